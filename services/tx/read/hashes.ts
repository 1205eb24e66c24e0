import type { Call, Database } from '../../common/clickhouse/database.js';
import { createBatcher } from '../../common/util/batcher.js';
import { groupBy } from '../../common/util/chunk.js';
import type { Head } from '../store/cursor.js';
import type { Kind, Tables } from '../store/tables.js';
import { createHashLog, hashesIn } from './hash-log.js';

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
  put(kind: Kind, hash: string, sequence: number): void;
  /** Bytes of memory in use. */
  readonly size: number;
}

export interface HashesOptions {
  readonly database: Database;
  readonly tables: Tables;
  readonly head: Head;
  /** How many queries may run at once. */
  readonly atOnce: number;
  /**
   * Whether this process writes the tables, and says so with `put`: elsewhere nobody would notice that a hash came a
   * second time, so nothing is remembered.
   */
  readonly writesToo: boolean;
}

interface HashRow extends HashEntry {
  readonly kind: Kind;
  readonly hash: string;
}

/** Hashes that one query looks up. */
const hashesAtOnce = 256;

/** The kinds whose hashes are remembered, those that have one body; each takes as many segments of 4 MiB at most. */
const [remembered, segments] = [['tx', 'evm_tx'] as const, 12];

/** Hashes that one query reads into memory. */
const filledAtOnce = 100_000;

/** Opens the hashes. */
export function createHashes({ database, tables, head, atOnce, writesToo }: HashesOptions): Hashes {
  const known = new Map<Kind, ReturnType<typeof createHashLog>>();
  if (writesToo) for (const kind of remembered) known.set(kind, createHashLog(segments));
  /** Those that the memory is of; none before it is used. */
  let rollbacks = -1;
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
  /** Reads the newest hashes into memory, in the background. What fails is looked up one by one. */
  const fill = async (): Promise<void> => {
    const began = rollbacks;
    for (const [kind, log] of known) {
      const last = head.position.last[kind];
      for (let from = Math.max(0, last - hashesIn(segments)); from < last; from += filledAtOnce) {
        const rows = await database.rows<{ hash: string; sequence: number }>(
          `SELECT substring(h.hash, 1, 24) AS hash, sequence FROM ${tables.of('hashes')} AS h WHERE kind = {kind:String} AND sequence > {from:UInt64} AND sequence <= {to:UInt64}`,
          { kind, from, to: Math.min(last, from + filledAtOnce) },
          { name: 'tx.newest_hashes', priority: 'background' },
        );
        if (began !== rollbacks || began !== head.rollbacks) return;
        for (const row of rows) log.put(row.hash, row.sequence);
      }
    }
  };
  const forgetIfRolledBack = (): void => {
    if (rollbacks === head.rollbacks) return;
    rollbacks = head.rollbacks;
    for (const log of known.values()) log.clear();
    fill().catch(() => {});
  };

  return {
    async find(kind, hash, upTo, call) {
      forgetIfRolledBack();
      const sequence = known.get(kind)?.get(hash);
      if (sequence !== undefined && sequence <= upTo) return { sequence, body_count: 1 };
      const began = rollbacks;
      const entries = (await look({ kind, hash }, call)).filter((entry) => entry.sequence <= upTo);
      const newest = entries.sort((a, b) => b.sequence - a.sequence)[0];
      if (newest !== undefined && began === head.rollbacks) known.get(kind)?.put(hash, newest.sequence);
      return newest;
    },
    put(kind, hash, sequence) {
      forgetIfRolledBack();
      known.get(kind)?.put(hash, sequence);
    },
    get size() {
      return [...known.values()].reduce((sum, { size }) => sum + size, 0);
    },
  };
}
