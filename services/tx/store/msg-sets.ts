import { createHash } from 'node:crypto';
import type { Database } from '../../common/clickhouse/database.js';
import type { Tables } from './tables.js';

/** A set of message types as it is stored. */
export interface MsgSetRow {
  /** Number of the set, from 1. */
  readonly msg_set: number;
  /** Distinct types, sorted. */
  readonly msgs: readonly string[];
  /** The first tx that has it. */
  readonly first_sequence: number;
}

/** The number that stands for having no message that could be read. */
export const noMsgs = 0;

/** A set by its key, see `keyOf`. */
export interface NumberedSet {
  readonly msg_set: number;
  readonly key: string;
}

/** Sets that are read at once. */
const setsAtOnce = 100_000;

/** The keys of all sets whose first tx is up to a sequence, in parts: anybody can make txs with ever new combinations. */
export async function* readMsgSets(
  database: Database,
  tables: Tables,
  upTo: number,
): AsyncGenerator<NumberedSet[], void, undefined> {
  for (let after = 0; ; ) {
    const rows = await database.rows<{ msg_set: number; hash: string }>(
      `SELECT
         m.msg_set AS msg_set,
         hex(substring(SHA256(arrayStringConcat(arrayMap(msg -> concat(toString(length(msg)), ':', msg), m.msgs))), 1, 16)) AS hash
       FROM ${tables.of('msg_sets')} AS m
       WHERE m.msg_set > {after:UInt32} AND m.first_sequence <= {up_to:UInt64}
       ORDER BY m.msg_set
       LIMIT {limit:UInt32}`,
      { after, up_to: upTo, limit: setsAtOnce },
      { name: 'tx.msg_sets', priority: 'write' },
    );
    yield rows.map(({ msg_set, hash }) => ({ msg_set, key: Buffer.from(hash, 'hex').toString('latin1') }));
    const last = rows.at(-1);
    if (last === undefined || rows.length < setsAtOnce) return;
    after = last.msg_set;
  }
}

/** Sets while a batch is numbered. Nothing counts before `commit`. */
export interface StagedMsgSets {
  /** The number of a set of types; a new one when no tx before had it. */
  numberOf(msgs: readonly string[], sequence: number): number;
  /** Sets that are new in this batch. */
  added(): readonly MsgSetRow[];
  commit(): void;
}

/** The numbers of all sets of message types, for the one writer. */
export interface MsgSets {
  /** Takes over what is stored, in the order of the numbers, in place of what is known. */
  restore(stored: AsyncIterable<readonly NumberedSet[]>): Promise<void>;
  stage(): StagedMsgSets;
}

/** Makes the writer's numbering, of no set. */
export function createMsgSets(): MsgSets {
  const numbers = new Map<string, number>();
  let last = 0;
  return {
    async restore(stored) {
      numbers.clear();
      last = 0;
      for await (const part of stored)
        for (const { msg_set, key } of part) {
          numbers.set(key, msg_set);
          last = msg_set;
        }
    },
    stage() {
      const fresh = new Map<string, MsgSetRow>();
      return {
        numberOf(msgs, sequence) {
          if (msgs.length === 0) return noMsgs;
          const sorted = [...new Set(msgs)].sort();
          const key = keyOf(sorted);
          const known = numbers.get(key) ?? fresh.get(key)?.msg_set;
          if (known !== undefined) return known;
          const msg_set = last + fresh.size + 1;
          fresh.set(key, { msg_set, msgs: sorted, first_sequence: sequence });
          return msg_set;
        },
        added: () => [...fresh.values()],
        commit() {
          for (const [key, { msg_set }] of fresh) numbers.set(key, msg_set);
          last += fresh.size;
        },
      };
    },
  };
}

/** Sixteen bytes that stand for a set, one a character: types may be long, and sets many. `readMsgSets` has the same. */
const keyOf = (sorted: readonly string[]): string =>
  createHash('sha256')
    .update(sorted.map((msg) => `${Buffer.byteLength(msg)}:${msg}`).join(''))
    .digest()
    .toString('latin1', 0, 16);
