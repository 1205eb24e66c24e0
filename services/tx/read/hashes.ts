import type { Database } from '../../common/clickhouse/database.js';
import type { Call, Kind, Tables } from '../store/tables.js';
import { createBatcher } from './batcher.js';
import { groupBy } from './group.js';

/** Where the bodies of a hash are. */
export interface HashEntry {
  readonly sequence: number;
  readonly body_count: number;
}

/**
 * Looks up a hash (64 lower-case hex digits) among those up to a sequence. The bytes of a tx
 * can be in two blocks, once failed and once not: the newest counts.
 */
export type FindHash = (kind: Kind, hash: string, upTo: number, call: Call) => Promise<HashEntry | undefined>;

interface HashRow extends HashEntry {
  readonly kind: Kind;
  readonly hash_hex: string;
}

/** Hashes that one query looks up. */
const hashesAtOnce = 256;

/** Opens the hashes. @param atOnce how many queries may run at once. */
export function createHashes(database: Database, tables: Tables, atOnce: number): FindHash {
  const find = createBatcher<{ kind: Kind; hash: string }, readonly HashRow[]>({
    run: async (keys, call) => {
      const rows = await database.rows<HashRow>(
        `SELECT kind, lower(hex(hash)) AS hash_hex, sequence, body_count FROM ${tables.of('hashes')} WHERE kind IN {kinds:Array(String)} AND hash IN arrayMap(text -> unhex(text), {hashes:Array(String)})`,
        {
          kinds: [...new Set(keys.map(({ kind }) => kind))],
          hashes: [...new Set(keys.map(({ hash }) => hash))],
        },
        { name: 'tx.hashes', ...call },
      );
      const found = groupBy(rows, ({ kind, hash_hex }) => `${kind}/${hash_hex}`);
      return keys.map(({ kind, hash }) => found.get(`${kind}/${hash}`) ?? []);
    },
    most: hashesAtOnce,
    atOnce,
  });
  return async (kind, hash, upTo, call) => {
    const entries = (await find({ kind, hash }, call)).filter(({ sequence }) => sequence <= upTo);
    return entries.sort((a, b) => b.sequence - a.sequence)[0];
  };
}
