import type { Database } from '../../services/common/clickhouse/database.js';
import { type Progress, ReindexServiceClient } from '../../services/common/gen/indexer/reindex/v1/reindex.js';
import { connectRpc } from '../../services/common/rpc/client.js';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { uniquePrefix } from './database.js';
import { type RecordingName, vmOf } from './facts.js';
import { stream } from './rpc.js';
import { type Stack, startStack } from './stack.js';
import type { endsAfterEach } from './suite.js';

const look = { name: 'test.look' };

/** Everything in the tx service's tables that does not depend on how blocks were cut into batches. */
const txContents: readonly string[] = [
  'SELECT height, hash, parent_hash, timestamp, last_sequence, tx_count, last_evm_sequence, evm_tx_count FROM {db}.blocks ORDER BY height',
  'SELECT height, hash, last_sequence, frame_count FROM {db}.internal_blocks ORDER BY height',
  'SELECT kind, sequence, body FROM {db}.bodies ORDER BY kind, sequence',
  'SELECT kind, hash, sequence, body_count FROM {db}.hashes ORDER BY kind, hash, sequence',
  'SELECT list, account, ord, sequence, msg_set FROM {db}.account_items ORDER BY list, account, ord',
  'SELECT list, account, length, latest FROM {db}.list_ends FINAL ORDER BY list, account',
  'SELECT msg_set, msgs, first_sequence FROM {db}.msg_sets ORDER BY msg_set',
  'SELECT msg_set, sequence FROM {db}.msg_set_txs ORDER BY msg_set, sequence',
  'SELECT store, owner FROM {db}.stores ORDER BY store, owner',
  'SELECT chain_id, vm_type FROM {db}.chain',
];

/** The same of the nft service's tables, without rows that a newer one replaces and without versions. */
export const nftContents: readonly string[] = [
  'SELECT height, hash, parent_hash FROM {db}.blocks ORDER BY height',
  'SELECT * EXCEPT (epoch) FROM {db}.changes ORDER BY at',
  'SELECT * EXCEPT (epoch) FROM {db}.history ORDER BY at',
  'SELECT * EXCEPT (epoch) FROM {db}.account_history ORDER BY account, collection, id_key, at',
  'SELECT * EXCEPT (epoch, version, is_deleted) FROM {db}.token_states FINAL ORDER BY collection, id_key',
  'SELECT list, scope, height, id_key, collection FROM {db}.token_lists FINAL ORDER BY list, scope, height, id_key, collection',
  'SELECT account, collection, token_count FROM {db}.token_counts FINAL ORDER BY account, collection',
  'SELECT * EXCEPT (epoch) FROM {db}.objects ORDER BY object, at',
  'SELECT * EXCEPT (epoch) FROM {db}.contracts ORDER BY contract, at',
  'SELECT * EXCEPT (epoch) FROM {db}.births ORDER BY collection, at, kind',
  'SELECT * EXCEPT (epoch) FROM {db}.classes ORDER BY class_name, at',
  'SELECT * EXCEPT (epoch) FROM {db}.asks ORDER BY at, subject, collection, first_key',
  'SELECT collection, born_at, creator, name, origin_name, timestamp FROM {db}.shown_collections FINAL ORDER BY collection',
  'SELECT born_at, collection, folded_name FROM {db}.collection_list FINAL ORDER BY born_at',
  'SELECT collection, id_key, uri FROM (SELECT * FROM {db}.token_uris ORDER BY version DESC LIMIT 1 BY collection, id_key) ORDER BY collection, id_key',
];

/** The rows of a generation, table by table. @param name its database. */
export async function tableContents(
  database: Database,
  name: string,
  contents: readonly string[] = txContents,
): Promise<unknown[][]> {
  const all: unknown[][] = [];
  for (const sql of contents) all.push(await database.rows(sql.replace('{db}', name), {}, look));
  return all;
}

/** The databases and tables that a service has, its control tables left out. */
export async function generationsOf(database: Database, base: string): Promise<string[]> {
  const rows = await database.rows<{ database: string }>(
    `SELECT DISTINCT database FROM system.tables WHERE startsWith(database, {base:String}) AND NOT startsWith(name, 'generation') AND NOT startsWith(name, 'writer') ORDER BY database`,
    { base },
    look,
  );
  return rows.map((row) => row.database);
}

/** A client of a service's rebuilding. */
export function connectReindex(address: string): {
  readonly client: ReindexServiceClient;
  /** Begins a rebuild and gives what was told of it, when it has ended. */
  rebuild(signal?: AbortSignal): Promise<Progress[]>;
  close(): void;
} {
  const client = connectRpc(ReindexServiceClient, address);
  return {
    client,
    async rebuild(signal) {
      const told: Progress[] = [];
      for await (const { progress } of stream(client).reindex({}, { signal })) {
        if (progress !== undefined) told.push(progress);
      }
      return told;
    },
    close: () => client.close(),
  };
}

/** Every service over a replayed chain, and a client of the rebuilding of one of them. */
export interface Rebuildable extends Stack, ReturnType<typeof connectReindex> {
  readonly node: ReplayNode;
  /** Prefix of its databases. */
  readonly prefix: string;
  stop(): Promise<void>;
}

export interface RebuildableOptions {
  readonly recording?: RecordingName;
  readonly tip?: number;
  /** One that plays already; else it has its own. */
  readonly node?: ReplayNode;
  readonly env?: Readonly<Record<string, string>>;
  readonly fault?: (point: string) => void | Promise<void>;
}

/** Starts one, and waits until the chain is indexed. @param endLater keeps how it ends */
export async function startRebuildable(
  service: 'tx' | 'nft',
  { recording = 'evm', tip, env, fault, ...given }: RebuildableOptions,
  endLater: ReturnType<typeof endsAfterEach>,
): Promise<Rebuildable> {
  const node = given.node ?? (await startReplayNode({ recording, ...(tip === undefined ? {} : { tip }) }));
  if (given.node === undefined) endLater(() => node.close());
  const prefix = env?.['CLICKHOUSE_DATABASE'] ?? uniquePrefix();
  const stack = await startStack(node, {
    vm: vmOf(recording),
    env: { CLICKHOUSE_DATABASE: prefix, REINDEX_PERCENT: '100', ...env },
    ...(fault === undefined ? {} : { fault }),
  });
  const reindex = connectReindex(stack.addresses[service]);
  const stop = endLater(async () => {
    reindex.close();
    await stack.stop();
  });
  await stack.reaches(node.tip(), recording === 'evm');
  return { ...stack, ...reindex, node, prefix, stop };
}
