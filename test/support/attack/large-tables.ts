import { join } from 'node:path';
import type { Database } from '../../../services/common/clickhouse/database.js';
import { loadSettings } from '../../../services/common/runtime/config.js';
import { createLog } from '../../../services/common/runtime/log.js';
import { createMetrics, type Metrics } from '../../../services/common/runtime/metrics.js';
import { gatewaySettings } from '../../../services/gateway/config.js';
import { startGateway } from '../../../services/gateway/main.js';
import { nftSettings } from '../../../services/nft/config.js';
import { startNft } from '../../../services/nft/main.js';
import { txSettings } from '../../../services/tx/config.js';
import { startTx } from '../../../services/tx/main.js';
import { uniquePrefix } from '../database.js';
import { temporaryFolder } from '../folder.js';
import { migrateNft } from '../nft-tables.js';
import { migrateTx } from '../tx-tables.js';

const MiB = 1024 * 1024;

/** What stands in tables of an older version that bounded nothing, written past the indexer. */
export interface LargeTables {
  /** Bytes of each tx, from the first to the last. */
  readonly txs: readonly number[];
  /** Default: all of them are in one block. */
  readonly txs_per_block?: number;
  /** Tokens of one account: how many, bytes of the uri of each, and of the name of their collection. */
  readonly tokens: { readonly count: number; readonly uri: number; readonly name: number };
}

/** The account, in lower-case hex, that all of it is about. */
export const victim = 'f39fd6e51aad88f6f4ce6ab8827279cfffb92266';
export const collection = 'c'.repeat(40);
export const hashOfTx = (sequence: number): string => sequence.toString(16).padStart(64, '0');

/** A text of so many bytes, in SQL. The engine repeats at most a million times. */
const textOf = (bytes: string): string =>
  `substring(repeat(repeat('a', 1024), intDiv(toUInt64(${bytes}), 1024) + 1), 1, toUInt64(${bytes}))`;

async function fillTxs(
  database: Database,
  prefix: string,
  { txs: sizes, txs_per_block: each = sizes.length }: LargeTables,
): Promise<void> {
  const run = (sql: string) => database.command(sql, {}, { name: 'fill' });
  const t = `${prefix}_tx`;
  for (const [index, size] of sizes.entries()) {
    const sequence = index + 1;
    const head = `{"txhash":"${hashOfTx(sequence)}","raw_log":"`;
    await run(
      `INSERT INTO ${t}.bodies (kind, sequence, body) SELECT 'tx', ${sequence}, concat('${head}', ${textOf(String(size - head.length - 2))}, '"}')`,
    );
  }
  const n = sizes.length;
  const top = n / each;
  await run(`INSERT INTO ${t}.chain (chain_id, vm_type) VALUES ('large-1', 'evm')`);
  await run(`OPTIMIZE TABLE ${t}.bodies FINAL`);
  await run(
    `INSERT INTO ${t}.hashes (kind, hash, sequence, body_count) SELECT 'tx', leftPad(lower(hex(number + 1)), 64, '0'), number + 1, 1 FROM numbers(${n})`,
  );
  for (const list of ['tx', 'signed_tx']) {
    await run(
      `INSERT INTO ${t}.account_items (list, account, ord, sequence, msg_set) SELECT '${list}', '${victim}', number + 1, number + 1, 1 FROM numbers(${n})`,
    );
    await run(
      `INSERT INTO ${t}.list_ends (list, account, length, latest, version, is_deleted) SELECT '${list}', '${victim}', ${n}, range(${n}, 0, -1), 1, 0 FROM numbers(1)`,
    );
  }
  await run(`INSERT INTO ${t}.msg_sets (msg_set, msgs, first_sequence) VALUES (1, ['a.b.MsgC'], 1)`);
  await run(`INSERT INTO ${t}.msg_set_txs (msg_set, sequence) SELECT 1, number + 1 FROM numbers(${n})`);
  await run(
    `INSERT INTO ${t}.blocks (height, hash, parent_hash, timestamp, last_sequence, tx_count, last_evm_sequence, evm_tx_count) SELECT number + 1, 'AA', '', '2026-01-01T00:00:00Z', (number + 1) * ${each}, ${each}, 0, 0 FROM numbers(${top})`,
  );
  await run(
    `INSERT INTO ${t}.head (height, hash, tx, views, version) SELECT ${top}, 'AA', ${n}, 'whole', 1 FROM numbers(1)`,
  );
}

async function fillTokens(
  database: Database,
  prefix: string,
  { count, uri, name }: LargeTables['tokens'],
): Promise<void> {
  const run = (sql: string) => database.command(sql, {}, { name: 'fill' });
  const t = `${prefix}_nft`;
  // Token ids sort by their length first, as token-key.ts has them.
  const { tokenKey } = await import('../../../services/nft/token-key.js');
  const keys = Array.from({ length: count }, (_, index) => `'${tokenKey(String(index + 1))}'`).join(',');
  const each = `(SELECT arrayJoin([${keys}]) AS id_key)`;
  const at = 2 ** 21;
  const time = "'2026-01-01T00:00:00Z'";
  await run(`INSERT INTO ${t}.chain (chain_id, vm_type) VALUES ('large-1', 'evm')`);
  await run(
    `INSERT INTO ${t}.token_states (collection, id_key, owner, minted_at, height, timestamp, tx_count, at, version, is_deleted) SELECT '${collection}', id_key, '${victim}', ${at}, 1, ${time}, 0, ${at}, 1, 0 FROM ${each}`,
  );
  await run(
    `INSERT INTO ${t}.token_uris (collection, id_key, uri, is_void, at, version) SELECT '${collection}', id_key, ${textOf(String(uri))}, false, ${at}, 1 FROM ${each} SETTINGS max_block_size = 8`,
  );
  const holding = `${victim}/${collection}`;
  for (const [list, scope] of [
    ['collection', collection],
    ['owner', victim],
    ['holding', holding],
  ] as const) {
    for (const [suffix, height] of [
      ['', 0],
      ['_height', 1],
    ] as const)
      await run(
        `INSERT INTO ${t}.token_lists (list, scope, height, id_key, collection, version, is_deleted) SELECT '${list}${suffix}', '${scope}', ${height}, id_key, '${collection}', 1, 0 FROM ${each}`,
      );
  }
  for (const owner of ['', victim])
    await run(
      `INSERT INTO ${t}.token_counts (account, collection, token_count, version, is_deleted) SELECT '${owner}', '${collection}', ${count}, 1, 0`,
    );
  await run(
    `INSERT INTO ${t}.shown_collections (collection, born_at, creator, name, timestamp, version, is_deleted) SELECT '${collection}', ${at}, '${victim}', ${textOf(String(name))}, ${time}, 1, 0`,
  );
  await run(
    `INSERT INTO ${t}.collection_list (born_at, collection, folded_name, version, is_deleted) SELECT ${at}, '${collection}', 'large', 1, 0`,
  );
  await run(`INSERT INTO ${t}.blocks (height, hash, parent_hash) SELECT 1, 'AA', ''`);
  await run(
    `INSERT INTO ${t}.head (height, hash, details, views, rollbacks, version) VALUES (1, 'AA', 1, 'whole', 0, 1)`,
  );
}

/** The API over such tables, served by tx, nft and a gateway as replicas do. */
export interface LargeStack {
  /** What the names of the databases begin with. */
  readonly prefix: string;
  readonly url: string;
  /** Where the tx service listens for gRPC. */
  readonly tx_address: string;
  readonly metrics: Metrics;
  stop(): Promise<void>;
}

export async function serveLargeTables(
  database: Database,
  tables: LargeTables,
  env: Readonly<Record<string, string>> = {},
): Promise<LargeStack> {
  const prefix = uniquePrefix();
  await migrateTx(database, prefix);
  await migrateNft(database, prefix);
  await fillTxs(database, prefix, tables);
  await fillTokens(database, prefix, tables.tokens);
  const sockets = temporaryFolder('sockets');
  const local = (name: string): string => `unix:${join(sockets, name)}`;
  const all = {
    CLICKHOUSE_DATABASE: prefix,
    ROLE: 'serve',
    PORT: '0',
    CHAIN_ID: 'large-1',
    BLOCK_SERVICE_ADDR: local('block'),
    TX_SERVICE_ADDR: local('tx'),
    NFT_SERVICE_ADDR: local('nft'),
    RICHLIST_SERVICE_ADDR: local('richlist'),
    ...env,
  };
  const metrics = createMetrics();
  const shared = { database, log: createLog('silent'), metrics };
  const tx = await startTx({ ...shared, config: loadSettings(txSettings, all), addresses: [local('tx')] });
  const nft = await startNft({
    ...shared,
    config: loadSettings(nftSettings, all),
    addresses: [local('nft')],
  });
  const gateway = await startGateway({ ...shared, config: loadSettings(gatewaySettings, all) });
  return {
    prefix,
    url: `http://127.0.0.1:${gateway.port}`,
    tx_address: local('tx'),
    metrics,
    async stop() {
      await gateway.stop();
      await nft.stop();
      await tx.stop();
    },
  };
}

export const mebibytes = (count: number): number => count * MiB;
