import { createBatcher } from '../../common/batcher.js';
import type { Call, Database } from '../../common/clickhouse/database.js';
import { groupBy } from '../../common/group.js';
import { createLru } from '../../common/lru.js';
import type { Head } from '../store/cursor.js';
import type { Kind, Tables } from '../store/tables.js';

/** Where the bodies of a hash are. */
export interface HashEntry {
  readonly sequence: number;
  readonly body_count: number;
}

/** Hashes of txs, receipts and traced txs: 64 lower-case hex digits. */
export interface Hashes {
  /**
   * Looks up a hash among those up to a sequence. The bytes of a tx can be in two blocks,
   * once failed and once not: the newest counts.
   */
  find(kind: Kind, hash: string, upTo: number, call: Call): Promise<HashEntry | undefined>;
  /** Remembers where a hash that was just written is. */
  put(kind: Kind, hash: string, entry: HashEntry): void;
}

export interface HashesOptions {
  readonly database: Database;
  readonly tables: Tables;
  readonly head: Head;
  /** How many queries may run at once. */
  readonly atOnce: number;
  /**
   * How many hashes to remember; 0 for none. Only where this process writes the tables and
   * says so with `put`: elsewhere nobody would notice that a hash came a second time.
   */
  readonly remembered: number;
}

interface HashRow extends HashEntry {
  readonly kind: Kind;
  readonly hash: string;
}

/** Hashes that one query looks up. */
const hashesAtOnce = 256;

/** Opens the hashes. */
export function createHashes({ database, tables, head, atOnce, remembered }: HashesOptions): Hashes {
  const known = remembered === 0 ? undefined : createLru<string, HashEntry>(remembered);
  let revision = head.revision;
  const look = createBatcher<{ kind: Kind; hash: string }, readonly HashRow[]>({
    run: async (keys, call) => {
      const rows = await database.rows<HashRow>(
        `SELECT kind, hash, sequence, body_count FROM ${tables.of('hashes')} WHERE kind IN {kinds:Array(String)} AND hash IN {hashes:Array(String)}`,
        {
          kinds: [...new Set(keys.map(({ kind }) => kind))],
          hashes: [...new Set(keys.map(({ hash }) => hash))],
        },
        { name: 'tx.hashes', ...call },
      );
      const found = groupBy(rows, ({ kind, hash }) => `${kind}/${hash}`);
      return keys.map(({ kind, hash }) => found.get(`${kind}/${hash}`) ?? []);
    },
    most: hashesAtOnce,
    atOnce,
  });
  const forgetIfRolledBack = (): void => {
    if (revision === head.revision) return;
    revision = head.revision;
    known?.clear();
  };
  return {
    async find(kind, hash, upTo, call) {
      forgetIfRolledBack();
      const key = `${kind}/${hash}`;
      const remembered = known?.get(key);
      if (remembered !== undefined && remembered.sequence <= upTo) return remembered;
      const began = head.revision;
      const entries = (await look({ kind, hash }, call)).filter(({ sequence }) => sequence <= upTo);
      const newest = entries.sort((a, b) => b.sequence - a.sequence)[0];
      // What was put meanwhile is newer.
      if (newest !== undefined && began === head.revision && known?.has(key) === false) {
        known.set(key, { sequence: newest.sequence, body_count: newest.body_count });
      }
      return newest;
    },
    put(kind, hash, entry) {
      forgetIfRolledBack();
      known?.set(`${kind}/${hash}`, entry);
    },
  };
}
