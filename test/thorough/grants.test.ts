import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { NftServiceClient } from '../../services/common/gen/indexer/nft/v1/nft.js';
import { connectRpc } from '../../services/common/rpc/client.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { freePort } from '../../tools/bench/processes.js';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { eventually } from '../support/block.js';
import { documentedGrants } from '../support/documented-grants.js';
import { type EngineAccount, engineAccount } from '../support/engine-account.js';
import { readFacts } from '../support/facts.js';
import { temporaryFolder } from '../support/folder.js';
import { outputOf } from '../support/output.js';
import { connectReindex } from '../support/reindex.js';
import { ask } from '../support/rpc.js';

const services = ['block', 'tx', 'nft', 'richlist'] as const;
type Service = (typeof services)[number];

/** What is documented for txs, for another service. */
const ofService = (service: Service, grants: readonly string[]): string[] =>
  grants.map((grant) => grant.replaceAll('weft_tx', `weft_${service}`));

const may = {
  migrate: documentedGrants(/`migrations`/),
  ingest: documentedGrants(/`services\.tx\.ingest`/),
  reindex: documentedGrants(/for `weft reindex`/),
  serve: documentedGrants(/`services\.tx\.serve`/),
};

/** A service as a process of its own. */
interface Running {
  readonly child: ChildProcess;
  readonly address: string;
  said(): string;
}

describe('services whose accounts of ClickHouse have the privileges that are documented', () => {
  const { height, holders = {}, txs } = readFacts('evm');
  const accounts = new Map<Service, EngineAccount>();
  const running = new Map<string, Running>();
  let node: ReplayNode;

  before(async () => {
    node = await startReplayNode({ recording: 'evm' });
    for (const service of services) accounts.set(service, engineAccount(temporaryFolder(service)));
  });
  after(async () => {
    for (const { child } of running.values()) child.kill('SIGKILL');
    await node?.close();
  });

  const accountOf = (service: Service): EngineAccount => accounts.get(service) as EngineAccount;
  const environment = (service: Service | 'gateway'): Record<string, string> => ({
    PATH: process.env['PATH'] ?? '',
    WEFT_ROOT: packageRoot,
    HOST: '127.0.0.1',
    OPS_PORT: '0',
    LOG_LEVEL: 'info',
    DRAIN_MS: '0',
    ...(service === 'gateway' ? {} : { DATA_DIR: accountOf(service).data_dir }),
  });

  /** Starts a service, with its account unless it is the gateway. */
  function start(name: Service | 'gateway', env: Record<string, string>, address: string): Running {
    const child = spawn(process.execPath, [join(packageRoot, `dist/services/${name}/main.js`)], {
      cwd: name === 'gateway' ? packageRoot : accountOf(name).cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const one = { child, address, said: outputOf(child) };
    running.set(name, one);
    return one;
  }

  async function migrate(service: Service): Promise<{ code: number; said: string }> {
    const child = spawn(process.execPath, [join(packageRoot, 'dist/tools/main.js'), 'migrate'], {
      cwd: accountOf(service).cwd,
      env: environment(service),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = outputOf(child);
    const [code] = await once(child, 'close');
    return { code: code as number, said: said() };
  }

  /** Starts all services in a role, each granted its own, and the gateway before them. @returns its URL */
  async function startAll(
    role: string,
    grants: readonly string[],
    more: Record<string, string> = {},
  ): Promise<string> {
    const addresses = Object.fromEntries(
      await Promise.all(services.map(async (name) => [name, `127.0.0.1:${await freePort()}`])),
    ) as Record<Service, string>;
    for (const service of services) {
      accountOf(service).grant(ofService(service, grants));
      const env = {
        ...environment(service),
        ROLE: role,
        MIGRATIONS: 'check',
        VM_TYPE: 'evm',
        GRPC_PORT: addresses[service].split(':')[1] as string,
        RPC_URL: node.rpc_url,
        REST_URL: node.rest_url,
        JSON_RPC_URL: node.json_rpc_url,
        ...(service === 'block' || role === 'serve' ? {} : { BLOCK_SERVICE_ADDR: addresses.block }),
        ...more,
      };
      start(service, env, addresses[service]);
    }
    const port = String(await freePort());
    const known = services.map((name) => [`${name.toUpperCase()}_SERVICE_ADDR`, addresses[name]]);
    const env = { ...environment('gateway'), ...Object.fromEntries(known), PORT: port, VM_TYPE: 'evm' };
    start('gateway', { ...env, CACHE_MB: '0' }, `127.0.0.1:${port}`);
    return `http://127.0.0.1:${port}`;
  }

  /** Ends everything, which must have met no refusal. */
  async function endAll(): Promise<void> {
    for (const [name, { child, said }] of running) {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      assert.equal(child.exitCode, 0, `${name}: ${said()}`);
      assert.doesNotMatch(said(), /privileges|ACCESS_DENIED/i, name);
    }
    running.clear();
  }

  async function fetchJson<T>(url: string): Promise<T> {
    const response = await fetch(url, { signal: AbortSignal.timeout(20_000) });
    const text = await response.text();
    assert.equal(response.status, 200, `${url}: ${text}`);
    return JSON.parse(text) as T;
  }

  /** Waits until all services have come to a height. */
  const reaches = (url: string, wanted: number): Promise<void> =>
    eventually(
      async () => {
        const told = await fetchJson<Record<string, unknown>>(`${url}/status`).catch(() => ({}));
        const heights = Object.entries(told).filter(([name]) => /height$/.test(name));
        return heights.length >= 3 && heights.every(([, at]) => Number(at) >= wanted);
      },
      `all services at ${wanted}`,
      90_000,
    ).catch((error: unknown) => {
      throw new Error(
        `${String(error)}\n${[...running.values()].map(({ said }) => said().slice(-2_000)).join('\n')}`,
      );
    });

  it('are migrated by an account that does it, and by no other', async () => {
    for (const service of services) {
      const account = accountOf(service);
      account.grant(ofService(service, may.ingest));
      const refused = await migrate(service);
      assert.notEqual(refused.code, 0);
      assert.match(refused.said, /Not enough privileges/);
      account.grant(may.migrate);
      const { code, said } = await migrate(service);
      assert.equal(code, 0, said);
    }
  });

  it('ingest, and unwind', async () => {
    const url = await startAll('ingest', may.ingest);
    await reaches(url, height);
    const hash = async (): Promise<string> =>
      (await fetchJson<{ block: { hash: string } }>(`${url}/indexer/block/v1/blocks/${height}`)).block.hash;
    const before = await hash();
    node.fork(height - 5, { keep_txs: true, tip: height + 2 });
    await eventually(async () => (await hash().catch(() => before)) !== before, 'the rollback', 60_000);
    await reaches(url, height + 2);
    // The status does not say how far the NFTs are. Whoever serves them after this has no writer that could end a repair.
    const nft = connectRpc(NftServiceClient, (running.get('nft') as Running).address);
    await eventually(
      async () => (await ask(nft).getStatus({})).height >= height + 2,
      'the NFTs after the rollback',
      60_000,
    );
    nft.close();
    await endAll();
  });

  it('serve', async () => {
    const url = await startAll('serve', may.serve);
    await reaches(url, height + 2);
    const [tx] = txs;
    const [denom] = Object.keys(holders);
    const account = holders[denom as string]?.[0]?.account;
    const { collections } = await fetchJson<{ collections: { object_addr: string }[] }>(
      `${url}/indexer/nft/v1/collections`,
    );
    const collection = collections[0]?.object_addr;
    for (const path of [
      ...['blocks', `blocks/${height}`, 'avg_blocktime'].map((one) => `block/v1/${one}`),
      ...['txs', `txs/${tx?.hash}`, `txs/by_height/${tx?.height}`, `txs/by_account/${account}`].map(
        (one) => `tx/v1/${one}`,
      ),
      ...['evm-txs', 'evm-internal-txs'].map((one) => `tx/v1/${one}`),
      ...[
        `collections/${collection}`,
        `tokens/by_collection/${collection}`,
        `tokens/by_account/${account}`,
      ].map((one) => `nft/v1/${one}`),
      `richlist/v1/${denom}?pagination.count_total=true`,
    ])
      await fetchJson(`${url}/indexer/${path}`);
    await endAll();
  });

  it('rebuild their tables', async () => {
    const url = await startAll('ingest', [...may.ingest, ...may.reindex], {
      REINDEX_KEEP_MS: '0',
      REINDEX_PERCENT: '100',
    });
    await reaches(url, height + 2);
    for (const service of ['tx', 'nft', 'richlist'] as const) {
      const reindex = connectReindex((running.get(service) as Running).address);
      assert.ok((await reindex.rebuild()).length > 0);
      reindex.close();
    }
    await reaches(url, height + 2);
    await endAll();
  });

  it('are refused what they were not granted, and say what that is', async () => {
    await startAll('ingest', may.serve);
    node.setTip(height + 4);
    const { child, said } = running.get('block') as Running;
    await eventually(() => /Not enough privileges/.test(said()), 'the refusal', 60_000);
    assert.match(said(), /INSERT|ALTER DELETE/);
    assert.equal(child.signalCode, null);
  });
});
