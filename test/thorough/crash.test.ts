import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NftServiceClient } from '../../services/common/gen/indexer/nft/v1/nft.js';
import { connectRpc } from '../../services/common/rpc/client.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { startReplayNode } from '../../tools/replay/node.js';
import { eventually, nodeEnvironment } from '../support/block.js';
import { readFacts } from '../support/facts.js';
import { temporaryFolder } from '../support/folder.js';
import { readNftTruth } from '../support/nft-facts.js';
import { ask } from '../support/rpc.js';
import { startBefore } from '../support/suite.js';

const childPath = fileURLToPath(new URL('../support/indexer-child.js', import.meta.url));

/** How a run of the indexer ended: caught up to the node's tip, or killed. */
type Ending = 'caught up' | 'killed';

interface Run {
  readonly url: string;
  /** gRPC address of the nft service. */
  readonly nft: string;
  readonly child: ChildProcess;
}

const collections = readNftTruth('evm').collections.map(({ addr }) => addr);

/** How far the nft service is; 0 while it does not answer. */
async function nftHeights(
  client: NftServiceClient | undefined,
): Promise<{ height: number; details_height: number }> {
  const nothing = { height: 0, details_height: 0 };
  if (client === undefined) return nothing;
  return ask(client)
    .getStatus({}, { deadline: Date.now() + 1_000 })
    .catch(() => nothing);
}

/** Everything that lists and totals of the API say, to be compared between two indexes. */
async function contentOf(url: string, accounts: readonly string[]): Promise<Record<string, unknown>> {
  const [tx, nft] = ['/indexer/tx/v1', '/indexer/nft/v1'];
  const paths = [
    '/indexer/block/v1/blocks',
    `${tx}/txs`,
    `${tx}/evm-txs`,
    `${tx}/evm-internal-txs`,
    ...['GAS', '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'].map((denom) => `/indexer/richlist/v1/${denom}`),
    ...['minievm.evm.v1.MsgCall', 'cosmos.bank.v1beta1.MsgSend'].map((type) => `${tx}/txs?msgs=${type}`),
    `${nft}/collections`,
    ...collections.flatMap((collection) => [
      `${nft}/tokens/by_collection/${collection}`,
      `${nft}/tokens/by_collection/${collection}?order_by=height`,
      ...['1', '2', '30'].map((id) => `${nft}/txs/${collection}/${id}`),
    ]),
    ...accounts.flatMap((account) => [
      `${nft}/collections/by_account/${account}`,
      `${nft}/tokens/by_account/${account}`,
      `${tx}/txs/by_account/${account}`,
      `${tx}/txs/by_account/${account}?is_signer=true`,
      `${tx}/evm-txs/by_account/${account}`,
      `${tx}/evm-internal-txs/by_account/${account}`,
    ]),
  ];
  const content: Record<string, unknown> = {};
  for (const path of paths) {
    const response = await fetch(`${url}${path}${path.includes('?') ? '&' : '?'}pagination.limit=1000`);
    assert.equal(response.status, 200, path);
    content[path] = await response.json();
  }
  return content;
}

/** Points that only some blocks of the recording lead to. */
const rare = /^nft |^richlist write (denoms|tokens|checks)$/;

describe('a process that is killed with SIGKILL', () => {
  const folder = temporaryFolder('crash');
  const facts = readFacts('evm');
  const accounts = (facts.accounts as { bech32: string }[]).map(({ bech32 }) => bech32);
  const node = startBefore(
    () => startReplayNode({ recording: 'evm', tip: 20 }),
    (node) => node.close(),
  );

  /** Starts an indexer on a folder; it may be killed at a point. */
  async function start(data: string, crashAt = '', log = ''): Promise<Run> {
    const child = fork(childPath, [], {
      env: {
        PATH: process.env['PATH'],
        WEFT_ROOT: packageRoot,
        ...nodeEnvironment(node, 'evm'),
        DATA_DIR: join(folder, data),
        CRASH_AT: crashAt,
        ...(log === '' ? {} : { CRASH_LOG: log }),
      },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const ready = await Promise.race([
      once(child, 'message').then(([{ answer }]) => answer as { url: string; nft: string }),
      once(child, 'exit').then(([code]) => {
        assert.equal(code, null, 'the indexer ended by itself');
        return { url: '', nft: '' };
      }),
    ]);
    return { ...ready, child };
  }

  /** Lets it run until it was killed, or has everything that the node has. */
  async function finish({ url, nft, child }: Run): Promise<Ending> {
    const client = nft === '' ? undefined : connectRpc(NftServiceClient, nft);
    const isDead = (): boolean => child.exitCode !== null || child.signalCode !== null;
    await eventually(
      async () => {
        if (isDead()) return true;
        const status = await fetch(`${url}/status`)
          .then((response) => response.json())
          .catch(() => ({}));
        const { height, internal_tx_height, rich_list_height } = status as Record<string, number>;
        const nfts = await nftHeights(client);
        const reached = [height, internal_tx_height, rich_list_height, nfts.height, nfts.details_height];
        return reached.every((h) => h === node.tip());
      },
      `height ${node.tip()}`,
      60_000,
    ).finally(() => client?.close());
    assert.ok(child.exitCode === null, `the indexer ended by itself with code ${child.exitCode}`);
    return isDead() ? 'killed' : 'caught up';
  }

  /**
   * Ends it, unless it dies before: what runs beside the blocks (the rich list's comparing) may
   * reach the point of a kill after everything was indexed.
   */
  async function stop({ child }: Run): Promise<Ending> {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }
    if (child.signalCode === 'SIGKILL') return 'killed';
    assert.equal(child.exitCode, 0, `the indexer ended by ${child.signalCode}`);
    return 'caught up';
  }

  it('between any two writes has lost nothing and doubled nothing after the next start', async function () {
    this.timeout(600_000);
    // A first run learns the points between two writes.
    const log = join(folder, 'points.log');
    const scout = await start('scout', '', log);
    await finish(scout);
    assert.equal(await stop(scout), 'caught up');
    assert.ok(existsSync(log));
    const all = [...new Set(readFileSync(log, 'utf8').trim().split('\n'))];
    // Of the nft service every third: what a kill leaves of its tables is looked at for all of them elsewhere.
    const points = all.filter((point, index) => !point.startsWith('nft ') || index % 3 === 0);
    assert.ok(points.length >= 10, `few points: ${points.join(', ')}`);

    // Then each of them is where a process dies, on the same data again and again, with new
    // blocks each time; two such histories side by side.
    const killed: string[] = [];
    const dieAt = async (data: string, some: readonly string[]): Promise<void> => {
      for (const point of some) {
        // Not every block has what leads to every write: a new token, an NFT, a drifted balance.
        for (let attempts = 0; attempts < 3; attempts++) {
          node.advance(3);
          const run = await start(data, point);
          await finish(run);
          if ((await stop(run)) === 'killed') {
            killed.push(point);
            break;
          }
        }
      }
    };
    const half = Math.ceil(points.length / 2);
    await Promise.all([dieAt('killed-1', points.slice(0, half)), dieAt('killed-2', points.slice(half))]);
    const missed = points.filter((point) => !killed.includes(point) && !rare.test(point));
    assert.deepEqual(missed, [], `killed only at ${killed.join(', ')}`);

    node.setTip(Math.max(node.tip(), 157));
    const survivors = [await start('killed-1'), await start('killed-2')];
    const undisturbed = await start('fresh');
    await finish(undisturbed);
    const expected = await contentOf(undisturbed.url, accounts);
    for (const survivor of survivors) {
      assert.equal(await finish(survivor), 'caught up');
      assert.deepEqual(await contentOf(survivor.url, accounts), expected);
      assert.equal(await stop(survivor), 'caught up');
    }
    assert.equal(await stop(undisturbed), 'caught up');
  });
});
