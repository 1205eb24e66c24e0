import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { Phase } from '../../services/common/gen/indexer/reindex/v1/reindex.js';
import { RpcError } from '../../services/common/runtime/errors.js';
import { eventually } from '../support/block.js';
import { execute, testDatabase, uniquePrefix } from '../support/database.js';
import { holdAt } from '../support/gate.js';
import {
  generationsOf,
  type Rebuildable,
  type RebuildableOptions,
  startRebuildable,
  tableContents,
} from '../support/reindex.js';
import { ask, stream } from '../support/rpc.js';
import { isWhole } from '../support/sample.js';
import { endsAfterEach } from '../support/suite.js';

describe('rebuilding the tables of the tx service', () => {
  const endLater = endsAfterEach();

  const start = ({ env, ...given }: RebuildableOptions = {}): Promise<Rebuildable> =>
    startRebuildable('tx', { ...given, env: { REINDEX_KEEP_MS: '100', ...env } }, endLater);

  const fails = (call: Promise<unknown>, code: status, words: RegExp): Promise<void> =>
    assert.rejects(call, (error) => {
      assert.ok(error instanceof RpcError, String(error));
      assert.equal(status[error.code], status[code]);
      assert.match(error.message, words);
      return true;
    });

  /** Resolves when a height is answered, neither less nor more. */
  const isAt = (get: Rebuildable['get'], height: number): Promise<void> =>
    eventually(
      async () => (await get<{ height: number }>('/status')).height === height,
      `block ${height} to be the last`,
    );

  const watchToTheEnd = async (client: Rebuildable['client']): Promise<void> => {
    for await (const _ of stream(client).watchReindex({}));
  };

  /** Resolves when only these generations have tables. */
  const onlyLeft = async (prefix: string, ...names: string[]): Promise<void> => {
    const database = await testDatabase();
    await eventually(
      async () => {
        const found = await generationsOf(database, `${prefix}_tx`);
        return JSON.stringify(found) === JSON.stringify(names.map((name) => `${prefix}_tx${name}`));
      },
      `only the tables ${names}`,
      10_000,
    );
  };

  for (const recording of isWhole ? (['evm', 'move', 'wasm'] as const) : (['move'] as const)) {
    it(`makes the same rows again of the ${recording} chain, without asking the node for blocks`, async () => {
      const { node, prefix, rebuild, get } = await start({ recording });
      const database = await testDatabase();
      const before = await tableContents(database, `${prefix}_tx`);
      assert.ok((before[2]?.length ?? 0) > 100, 'there is something to rebuild');
      const page = await get<{ pagination: { next_key: string } }>('/indexer/tx/v1/txs?pagination.limit=7');
      const path = `/indexer/tx/v1/txs?pagination.limit=7&pagination.key=${page.pagination.next_key}`;
      const second = await get(path);

      node.resetRequests();
      const told = await rebuild();
      assert.equal(node.requests()['rpc.block'] ?? 0, 0);
      assert.equal(node.requests()['rest.txs_block'] ?? 0, 0);
      assert.equal(told.at(-1)?.phase, Phase.DONE);
      assert.equal(told.at(-1)?.height, node.tip());
      assert.deepEqual(await tableContents(database, `${prefix}_tx_g2`), before);
      assert.deepEqual(await get(path), second, 'a key from before leads to the same page');
      await onlyLeft(prefix, '_g2');
      node.advance(3);
      await isAt(get, node.tip());
    });
  }

  it('heals tables that were damaged, the cached answers included', async () => {
    const { prefix, rebuild, get } = await start({ env: { BODY_CACHE_MB: '0', FACT_CACHE_MB: '0' } });
    const database = await testDatabase();
    const before = await tableContents(database, `${prefix}_tx`);
    for (const [table, condition] of [
      ['account_items', 'ord % 3 = 1'],
      ['list_ends', '1'],
      ['hashes', "kind = 'evm_tx'"],
      ['bodies', "kind = 'internal_tx' AND sequence > 10"],
      ['msg_set_txs', 'sequence < 50'],
    ])
      await execute(`DELETE FROM ${prefix}_tx.${table} WHERE ${condition}`);
    const path = '/indexer/tx/v1/txs?msgs=minievm.evm.v1.MsgCall';
    const damaged = await get<{ pagination: { total: string } }>(path);
    await rebuild();
    assert.deepEqual(await tableContents(database, `${prefix}_tx_g2`), before);
    await eventually(async () => {
      const healed = await get<{ pagination: { total: string } }>(path);
      return Number(healed.pagination.total) > Number(damaged.pagination.total);
    }, 'an answer from the new tables');
  });

  it('answers every call right all the while, as the chain goes on', async () => {
    const { node, rebuild, url, get } = await start({
      tip: 100,
      env: { CACHE_MB: '0' },
    });
    let isOver = false;
    let [reads, height] = [0, 0];
    const known = new Map<string, unknown>();
    const reader = async (): Promise<void> => {
      while (!isOver) {
        const now = await get<{ height: number }>('/status');
        // The chain goes on as fast as the index follows, however slow the machine is.
        if (now.height === node.tip()) node.advance(1);
        assert.ok(now.height >= height, `the height went back from ${height} to ${now.height}`);
        height = Math.max(height, now.height);
        for (const path of [
          '/indexer/tx/v1/txs/by_height/23',
          '/indexer/tx/v1/evm-txs?pagination.reverse=false&pagination.limit=5&pagination.count_total=false',
          '/indexer/tx/v1/evm-internal-txs/by_height/40',
          `/indexer/tx/v1/txs/by_height/${now.height}`,
        ]) {
          const response = await fetch(url + path);
          const answer = await response.json();
          assert.equal(response.status, 200, `${path}: ${JSON.stringify(answer)}`);
          assert.deepEqual(answer, known.get(path) ?? answer, path);
          known.set(path, answer);
          reads += 1;
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const reading = reader();
    try {
      await rebuild();
      await rebuild();
      await new Promise((resolve) => setTimeout(resolve, 500));
    } finally {
      isOver = true;
    }
    await reading;
    assert.ok(reads > 50, `${reads} answers were compared`);
  });

  it('unwinds both when the chain is rolled back meanwhile', async () => {
    for (const where of ['reindex tables made', 'reindex prepared', 'reindex swap']) {
      const hold = holdAt(where);
      const { node, prefix, rebuild, get, stop } = await start({ tip: 120, fault: hold.fault });
      const rebuilding = rebuild();
      await eventually(hold.isReached, where);
      node.fork(60, { tip: 130 });
      if (where === 'reindex swap') setTimeout(hold.open, 500);
      else {
        await isAt(get, 130);
        hold.open();
      }
      await rebuilding;
      await eventually(async () => {
        const now = await get<{ height: number; internal_tx_height: number }>('/status');
        return now.height === 130 && now.internal_tx_height === 130;
      }, 'the new chain in the new tables');
      const database = await testDatabase();
      const rebuilt = await tableContents(database, `${prefix}_tx_g2`);
      await stop();
      const fresh = await start({ node, env: {} });
      assert.deepEqual(rebuilt, await tableContents(database, `${fresh.prefix}_tx`), where);
      await fresh.stop();
    }
  });

  it('says what cannot be done', async () => {
    const hold = holdAt('reindex prepared');
    const { client, rebuild, prefix, node } = await start({ tip: 60, fault: hold.fault });
    endLater(hold.open);
    const watch = () => watchToTheEnd(client);
    await fails(watch(), status.NOT_FOUND, /not being rebuilt/);
    await fails(ask(client).cancelReindex({}), status.NOT_FOUND, /not being rebuilt/);

    const first = rebuild();
    await onlyLeft(prefix, '', '_g2');
    await fails(rebuild(), status.ALREADY_EXISTS, /rebuilt already, and is at/);
    const ends = Promise.all([
      fails(first, status.CANCELLED, /cancelled/),
      fails(watch(), status.CANCELLED, /cancelled/),
    ]);
    const cancelled = ask(client).cancelReindex({});
    hold.open();
    await cancelled;
    await ends;
    await onlyLeft(prefix, '');
    await fails(ask(client).cancelReindex({}), status.NOT_FOUND, /not being rebuilt/);

    assert.equal((await rebuild()).at(-1)?.phase, Phase.DONE);
    await onlyLeft(prefix, '_g3');
    node.advance(1);
  });

  it('goes on after a stop, and leaving the stream does not end it', async () => {
    const prefix = uniquePrefix();
    const hold = holdAt('reindex prepared');
    const first = await start({ env: { CLICKHOUSE_DATABASE: prefix }, fault: hold.fault });
    endLater(hold.open);
    const leaving = new AbortController();
    const left = first.rebuild(leaving.signal);
    await onlyLeft(prefix, '', '_g2');
    leaving.abort();
    await left;
    const ended = fails(watchToTheEnd(first.client), status.UNAVAILABLE, /goes on with its next start/);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const stopping = first.stop();
    hold.open();
    await stopping;
    await ended;

    const second = await start({ node: first.node, env: { CLICKHOUSE_DATABASE: prefix } });
    await onlyLeft(prefix, '_g2');
    const { height } = await second.get<{ height: number }>('/status');
    assert.equal(height, 157);
  });

  it('is followed by processes that only serve', async () => {
    const { node, prefix, rebuild, get } = await start({ tip: 80 });
    const serving = await start({ node, env: { CLICKHOUSE_DATABASE: prefix, ROLE: 'serve' } });
    await fails(serving.rebuild(), status.FAILED_PRECONDITION, /only answers/);
    await rebuild();
    await onlyLeft(prefix, '_g2');
    node.advance(2);
    for (const each of [get, serving.get]) await isAt(each, 82);
    assert.deepEqual(await serving.get('/indexer/tx/v1/txs'), await get('/indexer/tx/v1/txs'));
  });
});
