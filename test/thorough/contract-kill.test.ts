import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { anvilOrSkip } from '../support/anvil.js';
import { temporaryFolder } from '../support/folder.js';
import { type RpcProxy, startRpcProxy } from '../support/rpc-proxy.js';
import { clientOf, deployKind, plainContract, scoresOf } from '../support/score-contract.js';
import { startBefore } from '../support/suite.js';

const program = fileURLToPath(new URL('../support/score-crash-child.js', import.meta.url));

describe('a sender that is killed', () => {
  const anvil = startBefore(
    (test) => anvilOrSkip(test),
    (anvil) => anvil.stop(),
  );
  let proxy: RpcProxy;
  let folder: string;

  beforeEach(async () => {
    proxy = await startRpcProxy(anvil.url);
    folder = temporaryFolder('kill');
  });
  afterEach(() => proxy.stop());

  /** Runs the program to its end; its exit code, or the signal that ended it. */
  const run = (address: string, onStart: (kill: () => void) => void = () => {}): Promise<number | string> => {
    const key = anvil.accounts[0]?.private_key as string;
    const child = spawn(process.execPath, [program, proxy.url, address, join(folder, 'journal')], {
      env: { ...process.env, PRIVATE_KEY: key },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    onStart(() => child.kill('SIGKILL'));
    return new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code ?? -1)));
  };

  // Three txs of scores, then the one that finalizes.
  for (const nth of [2, 4]) {
    for (const when of ['before', 'after'] as const) {
      it(`right ${when} tx ${nth} arrives: the next one loses nothing and repeats nothing`, async () => {
        const address = await deployKind(anvil, 'lenient', 5n);
        const ended = await run(address, (kill) => {
          proxy.meddle = ({ method }, count) => {
            if (method !== 'eth_sendRawTransaction' || count !== nth) return undefined;
            if (when === 'after') setTimeout(kill, 0);
            else kill();
            return when === 'after' ? 'drop' : 'refuse';
          };
        });
        assert.equal(ended, 'SIGKILL');
        proxy.meddle = undefined;
        assert.equal(await run(address), 0);
        const { contract } = clientOf(anvil.url, address, {
          private_key: anvil.accounts[0]?.private_key as string,
        });
        assert.deepEqual(await contract.scores(5n), scoresOf(60));
        assert.equal((await contract.stage(5n))?.is_finalized, true);
        const plain = plainContract(anvil, address);
        const logs = (await anvil.call('eth_getLogs', { address, fromBlock: '0x0' })) as {
          topics: string[];
        }[];
        const finals = logs.filter(
          ({ topics }) => topics[0] === plain.interface.getEvent('FinalizeStage')?.topicHash,
        );
        assert.equal(finals.length, 1, 'finalized once');
        const updates = logs.filter(
          ({ topics }) => topics[0] === plain.interface.getEvent('UpdateScore')?.topicHash,
        );
        assert.equal(updates.length, 60, 'every score written once');
        const journal = readFileSync(join(folder, 'journal'), 'utf8');
        assert.ok(!journal.includes(String(anvil.accounts[0]?.private_key).slice(2)));
      });
    }
  }
});
