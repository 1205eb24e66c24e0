import assert from 'node:assert/strict';
import {
  type ConsumerDependencies,
  startConsumer,
  type TablesOptions,
} from '../../services/common/consumer/service.js';
import type { OpenOptions } from '../../services/common/reindex/tables.js';
import { serveRpc } from '../../services/common/rpc/server.js';
import { loadSettings, type Settings } from '../../services/common/runtime/config.js';
import { UserError } from '../../services/common/runtime/errors.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import type { ServiceProcess } from '../../services/common/runtime/service.js';
import { nftSettings } from '../../services/nft/config.js';
import { startNft } from '../../services/nft/main.js';
import { richlistSettings } from '../../services/richlist/config.js';
import { startRichlist } from '../../services/richlist/main.js';
import { type TxConfig, txSettings } from '../../services/tx/config.js';
import { startTx } from '../../services/tx/main.js';
import { txService } from '../../services/tx/rpc.js';
import { rebuildableTx, type TxTables } from '../../services/tx/tables.js';
import { freePort } from '../../tools/bench/processes.js';
import { eventually } from '../support/block.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { serveHttp } from '../support/http-server.js';
import { ask } from '../support/rpc.js';
import { endsAfterEach, startBefore } from '../support/suite.js';
import { startBlockSource } from '../support/tx-block-source.js';

const isTaken = (error: unknown): boolean =>
  error instanceof UserError && /another program has that port$/.test(error.message);

/** A start that can be tried on several addresses. */
const starting =
  <Config>(
    start: (all: ConsumerDependencies<Config>) => Promise<ServiceProcess>,
    all: Omit<ConsumerDependencies<Config>, 'addresses'>,
  ) =>
  (addresses: string[]): Promise<ServiceProcess> =>
    start({ ...all, addresses });

describe('a service that consumes blocks, on a port that is taken', () => {
  const endLater = endsAfterEach();
  const taken = startBefore(
    () => serveHttp(() => {}),
    ({ close }) => close(),
  );
  const source = startBefore(
    () => startBlockSource({ vm_type: 'wasm' }),
    ({ close }) => close(),
  );
  const database = startBefore(testDatabase);
  before(() => source.grow(3));
  const address = () => `127.0.0.1:${taken.port}`;

  /** What a start is given, but for its addresses. */
  const given = <S extends Settings>(settings: S) => ({
    config: loadSettings(settings, {
      VM_TYPE: 'wasm',
      CLICKHOUSE_DATABASE: uniquePrefix(),
      BLOCK_SERVICE_ADDR: source.address,
      REST_URL: 'http://127.0.0.1:1',
      SHUTDOWN_GRACE_MS: '500',
    }),
    ...{ database, log: createLog('silent'), metrics: createMetrics() },
  });

  const starts: Readonly<Record<string, () => (addresses: string[]) => Promise<ServiceProcess>>> = {
    tx: () => starting(startTx, given(txSettings)),
    nft: () => starting(startNft, given(nftSettings)),
    richlist: () => starting(startRichlist, given(richlistSettings)),
  };
  for (const [name, prepare] of Object.entries(starts))
    it(`${name} says so, and starts on a free one with the same database and metrics`, async () => {
      const start = prepare();
      await assert.rejects(start([address()]), isTaken);
      const running = await start(['127.0.0.1:0']);
      endLater(() => running.stop());
      await eventually(async () => running.readiness().ready, 'ready');
    });

  it('closes everything that was opened before', async () => {
    let made: TablesOptions<TxConfig> | undefined;
    let opened: OpenOptions<TxTables> | undefined;
    const start = startConsumer<TxConfig, TxTables>(
      {
        name: 'tx',
        node: () => ({ rest: ['http://127.0.0.1:1'], jsonRpc: ['http://127.0.0.1:1'], connections: 1 }),
        tables: (options) => {
          made = options;
          const service = rebuildableTx(options);
          return {
            ...service,
            open: (options) => {
              opened = options;
              return service.open(options);
            },
          };
        },
        api: ({ log, metrics, reader, stopping }) =>
          txService({
            ...{ log, metrics, stopping, vm_type: 'wasm', account_prefix: 'init' },
            reader,
          }),
      },
      { ...given(txSettings), addresses: ['127.0.0.1:0', address()] },
    );
    await assert.rejects(start, isTaken);
    assert.ok(made !== undefined && opened !== undefined);
    assert.ok(opened.signal.aborted);
    const { blocks, rest, jsonRpc } = made;
    await assert.rejects(async () => ask(blocks).getStatus({}), /shut ?down|closed/i);
    for (const node of [rest, jsonRpc])
      await assert.rejects(
        node.ask({ path: '/', attempts: 1 }, () => ''),
        /destroyed/i,
      );
  });

  it('leaves no other address open either', async () => {
    const first = `127.0.0.1:${await freePort()}`;
    await assert.rejects(serveRpc([], [first, address()]), isTaken);
    const server = await serveRpc([], [first]);
    assert.equal(server.address, first);
    await server.close(100);
  });
});
