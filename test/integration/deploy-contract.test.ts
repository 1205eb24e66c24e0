import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Wallet } from 'ethers';
import { messageOf, TryAgainError, UserError } from '../../services/common/runtime/errors.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { runDeployContract } from '../../tools/deploy-contract/cli.js';
import { type Anvil, anvilMnemonic } from '../../tools/dev/anvil.js';
import { type SimulatedL1, startSimulatedL1 } from '../../tools/dev/l1.js';
import { anvilOrSkip } from '../support/anvil.js';
import { temporaryFolder } from '../support/folder.js';
import { serveRest } from '../support/http-server.js';
import { outputOf } from '../support/output.js';
import { type RpcProxy, startRpcProxy } from '../support/rpc-proxy.js';
import { addressOf, clientOf } from '../support/score-contract.js';
import { l1InStage } from '../support/scoring/l1.js';

const module = {
  address: '0x42cd8467b1c86e59bf319e5664a09b6b5840bb3fac64f5ce690b5041c530565a',
  name: 'vip',
  prefix: 'initia',
};

/** What a run of the command printed, said and came to. */
interface Run {
  readonly out: string;
  readonly said: string;
  readonly error: unknown;
}

async function deploy(env: Record<string, string>, ...args: string[]): Promise<Run> {
  let [out, said] = ['', ''];
  const world = {
    env,
    print: (text: string) => {
      out += `${text}\n`;
    },
    say: (text: string) => {
      said += `${text}\n`;
    },
  };
  const error = await runDeployContract(args, world).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { out, said, error };
}

describe('weft deploy-contract', () => {
  let anvil: Anvil;
  let l1: SimulatedL1;
  let proxy: RpcProxy;
  let folder: string;
  let key: string;

  before(async function () {
    anvil = await anvilOrSkip(this);
    key = anvil.accounts[0]?.private_key as string;
    l1 = await startSimulatedL1({
      module,
      state: l1InStage(12n, 1_700_000_000, 1000, {
        bridges: [{ bridge_id: 7n, version: 1n, init_stage: 10n, vip_l2_score_contract: addressOf(3) }],
      }),
    });
  });
  after(async () => {
    await anvil?.stop();
    await l1?.close();
  });
  beforeEach(async () => {
    proxy = await startRpcProxy(anvil.url);
    folder = temporaryFolder('deploy');
  });
  afterEach(() => proxy.stop());

  const run = async (env: Record<string, string>, ...args: string[]): Promise<Run> => {
    const own = { JSON_RPC_URL: anvil.url, PRIVATE_KEY: key, INIT_STAGE: '5', ...env };
    const ended = await deploy(own, '--out', folder, ...args);
    for (const text of [ended.out, ended.said, messageOf(ended.error ?? '')])
      assert.ok(!text.includes(key.slice(2)), 'the key is shown');
    return ended;
  };

  const l1Env = (): Record<string, string> => ({ L1_REST_URL: l1.url, VIP_MODULE_ADDRESS: module.address });

  it('prints the address alone, and writes a record', async () => {
    const { out, said, error } = await run({});
    assert.equal(error, undefined);
    assert.match(out, /^0x[0-9a-fA-F]{40}\n$/);
    const address = out.trim();
    const { contract } = clientOf(anvil.url, address, { private_key: key });
    assert.equal(await contract.initStage(), 5n);
    assert.deepEqual(readdirSync(folder), [`contract-31337-${address}.json`]);
    const record = JSON.parse(readFileSync(join(folder, readdirSync(folder)[0] as string), 'utf8'));
    assert.equal(record.address, address);
    assert.equal(record.init_stage, '5');
    assert.equal(record.evm_chain_id, '31337');
    assert.equal(record.deployer, anvil.accounts[0]?.address);
    assert.match(record.tx_hash, /^0x[0-9a-f]{64}$/);
    assert.ok(record.height > 0 && BigInt(record.gas_used) > 500_000n);
    assert.match(record.compiler.version, /^0\.8\.37/);
    assert.match(said, /EVM chain id 31337\n/);
    assert.match(said, /gas is free/);
  });

  it('does not deploy a second one unless told', async () => {
    const first = await run({});
    const second = await run({});
    assert.ok(second.error instanceof UserError);
    assert.equal(second.out, '');
    assert.match(second.said, new RegExp(`${first.out.trim()}.*it is on the chain, first stage 5.*--again`));
    const third = await run({}, '--again');
    assert.match(third.out, /^0x/);
    assert.notEqual(third.out, first.out);
    assert.equal(readdirSync(folder).length, 2);
  });

  it('deploys nothing with --check', async () => {
    const before = await anvil.call('eth_getTransactionCount', anvil.accounts[0]?.address, 'latest');
    const { out, said, error } = await run({}, '--check');
    assert.deepEqual([out, error], ['', undefined]);
    assert.match(said, /nothing was deployed/);
    assert.equal(await anvil.call('eth_getTransactionCount', anvil.accounts[0]?.address, 'latest'), before);
    assert.deepEqual(readdirSync(folder), []);
  });

  it('takes the stage from the L1, and says how INIT_STAGE compares with it', async () => {
    const auto = await run({ ...l1Env(), INIT_STAGE: 'auto' });
    assert.equal(auto.error, undefined, messageOf(auto.error));
    const { contract } = clientOf(anvil.url, auto.out.trim(), { private_key: key });
    assert.equal(await contract.initStage(), 12n);
    const early = await run({ ...l1Env(), INIT_STAGE: '10' }, '--check', '--again');
    assert.match(early.said, /the L1 is in stage 12: 2 earlier stages have to be scored and finalized first/);
    const late = await run({ ...l1Env(), INIT_STAGE: '13' }, '--check', '--again');
    assert.match(late.said, /no scores of stages before 13/);
  });

  it('says what the L1 has registered', async () => {
    const rest = await serveRest(() => ({
      '/minievm/evm/v1/params': { params: { allowed_publishers: [], gas_enforcement: null } },
      '/opinit/opchild/v1/bridge_info': { bridge_info: { bridge_id: '7' } },
    }));
    const { said } = await run({ ...l1Env(), REST_URL: rest.url, INIT_STAGE: 'auto' }, '--check');
    assert.match(said, /bridge 7 is registered from stage 10 on .* lacks the stages before it/);
    assert.match(said, /everybody may deploy/);
    await rest.close();
  });

  it('says who may deploy, and heeds the limit of gas', async () => {
    const routes: Record<string, unknown> = {};
    const rest = await serveRest(() => routes);
    routes['/minievm/evm/v1/params'] = { params: { allowed_publishers: [addressOf(9)] } };
    const denied = await run({ REST_URL: rest.url }, '--check');
    assert.ok(denied.error instanceof UserError);
    assert.match(denied.said, /WRONG only 0x.* may deploy on this rollup/);
    routes['/minievm/evm/v1/params'] = {
      params: {
        allowed_publishers: [anvil.accounts[0]?.address.toLowerCase()],
        gas_enforcement: { max_gas_limit: '100000' },
      },
    };
    const small = await run({ REST_URL: rest.url }, '--check');
    assert.match(
      small.said,
      /may deploy on this rollup\n WRONG deploying takes \d+ gas, and a tx may have 100000/,
    );
    await rest.close();
  });

  it('names every mistake at once', async () => {
    const { error } = await run({
      JSON_RPC_URL: '',
      PRIVATE_KEY: 'abc',
      INIT_STAGE: 'auto',
      EVM_CHAIN_ID: '-1',
    });
    assert.ok(error instanceof UserError);
    assert.match(error.message, /EVM_CHAIN_ID/);
    const second = await run({ JSON_RPC_URL: '', PRIVATE_KEY: 'abc', INIT_STAGE: 'auto' });
    for (const words of [
      /JSON_RPC_URL is not set/,
      /PRIVATE_KEY must be 64 hex digits/,
      /needs L1_REST_URL/,
    ]) {
      assert.match(messageOf(second.error), words);
    }
    for (const INIT_STAGE of ['0', '-1', '1.5', '1e3', '18446744073709551616', 'soon']) {
      assert.match(messageOf((await run({ INIT_STAGE })).error), /INIT_STAGE/, INIT_STAGE);
    }
  });

  it('compares the chain id only when told what it must be', async () => {
    assert.equal((await run({ EVM_CHAIN_ID: '0x7a69' }, '--check')).error, undefined);
    const { error } = await run({ EVM_CHAIN_ID: '1' });
    assert.ok(error instanceof UserError);
    assert.match(error.message, /EVM chain id 31337, and EVM_CHAIN_ID is 1/);
  });

  it('asks for another attempt while the node or the L1 does not answer', async () => {
    proxy.meddle = () => 'refuse';
    assert.ok((await run({ JSON_RPC_URL: proxy.url })).error instanceof TryAgainError);
    l1.fault = 'html';
    try {
      const { error, said } = await run({ ...l1Env(), INIT_STAGE: 'auto' });
      assert.ok(error instanceof TryAgainError, messageOf(error));
      assert.match(said, /LATER the L1's stage/);
    } finally {
      l1.fault = 'none';
    }
  });

  it('deploys with nothing in the account where gas is free', async () => {
    const poor = Wallet.createRandom();
    const { out } = await run({ PRIVATE_KEY: poor.privateKey });
    assert.match(out, /^0x/);
  });

  it('takes BIP39 words with an index, or a signer elsewhere', async () => {
    const words = await run({ PRIVATE_KEY: '', MNEMONIC: anvilMnemonic, MNEMONIC_INDEX: '2' });
    assert.match(words.said, new RegExp(`deployer ${anvil.accounts[2]?.address}`));
    assert.match(words.out, /^0x/);
    assert.ok(!`${words.said}${words.out}`.includes('test test'));
    const SIGNER_ADDRESS = anvil.accounts[3]?.address as string;
    const remote = await run({ PRIVATE_KEY: '', SIGNER_URL: anvil.url, SIGNER_ADDRESS }, '--again');
    assert.match(remote.out, /^0x/);
    assert.match(remote.said, new RegExp(`deployer ${SIGNER_ADDRESS} \\(the signer at 127`));
  });

  it('finds a deployment that an earlier run had sent before it was killed', async () => {
    const main = fileURLToPath(new URL('../../tools/main.js', import.meta.url));
    const start = () =>
      spawn(process.execPath, [main, 'deploy-contract', '--out', folder], {
        env: {
          ...process.env,
          WEFT_ROOT: packageRoot,
          JSON_RPC_URL: proxy.url,
          PRIVATE_KEY: key,
          INIT_STAGE: '5',
        },
      });
    const ended = async (child: ReturnType<typeof start>) => {
      let out = '';
      child.stdout.on('data', (chunk) => {
        out += chunk;
      });
      const said = outputOf(child);
      const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
        child.once('close', (...args) => resolve(args)),
      );
      assert.ok(!said().includes(key.slice(2)));
      return { out, said: said(), code, signal };
    };
    const count = () =>
      anvil.call('eth_getTransactionCount', anvil.accounts[0]?.address, 'latest').then(Number);
    const before = await count();
    const first = start();
    proxy.meddle = ({ method, params }) => {
      // What asks for the node's minimum price deploys nothing.
      if (method !== 'eth_sendRawTransaction' || String(params[0]).length < 1_000) return undefined;
      if (process.platform === 'linux') {
        assert.ok(!readFileSync(`/proc/${first.pid}/cmdline`, 'utf8').includes(key.slice(2)));
      }
      setTimeout(() => first.kill('SIGKILL'), 0);
      return 'drop';
    };
    assert.equal((await ended(first)).signal, 'SIGKILL');
    proxy.meddle = undefined;
    assert.deepEqual(readdirSync(folder), ['contract-31337-pending.json']);
    const second = await ended(start());
    assert.equal(second.code, 0, second.said);
    assert.match(second.out, /^0x[0-9a-fA-F]{40}\n$/);
    assert.match(second.said, /an earlier run had sent a deployment/);
    assert.equal(await count(), before + 1, 'one deployment');
    assert.deepEqual(readdirSync(folder), [`contract-31337-${second.out.trim()}.json`]);
    const third = await ended(start());
    assert.equal(third.code, 1);
    assert.equal(third.out, '');
  });

  it('deploys anew when the earlier tx never arrived, and reads no broken record', async () => {
    const deployer = anvil.accounts[0]?.address as string;
    const nonce = Number(await anvil.call('eth_getTransactionCount', deployer, 'latest'));
    const pending = {
      evm_chain_id: '31337',
      init_stage: '5',
      deployer,
      nonce,
      tx_hashes: [`0x${'ab'.repeat(32)}`],
      address: '',
    };
    writeFileSync(join(folder, 'contract-31337-pending.json'), JSON.stringify(pending));
    const { out, said } = await run({});
    assert.match(said, /it is not on the chain/);
    assert.match(out, /^0x/);
    writeFileSync(join(folder, `contract-31337-${addressOf(1)}.json`), '{"addr');
    assert.match(messageOf((await run({})).error), /cannot be read/);
  });
});

describe('weft deploy-contract where gas costs something', () => {
  it('says how much is missing, and deploys once it is there', async function () {
    const anvil = await anvilOrSkip(this, { is_gas_free: false });
    const folder = temporaryFolder('deploy');
    const poor = Wallet.createRandom();
    const env = { JSON_RPC_URL: anvil.url, PRIVATE_KEY: poor.privateKey, INIT_STAGE: '5' };
    const { error, said } = await deploy(env, '--out', folder);
    assert.ok(error instanceof UserError);
    const missing = /send it (\d+) wei more/.exec(said)?.[1];
    assert.ok(missing !== undefined, said);
    await anvil.call('anvil_setBalance', poor.address, `0x${(BigInt(missing) * 2n).toString(16)}`);
    assert.match((await deploy(env, '--out', folder)).out, /^0x/);
    await anvil.stop();
  });
});
