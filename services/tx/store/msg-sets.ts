import type { Call, Database } from '../../common/clickhouse/database.js';
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

/** Reads the sets whose first tx lies in (after, upTo]. */
export function readMsgSets(
  database: Database,
  tables: Tables,
  after: number,
  upTo: number,
  call: Call = {},
): Promise<MsgSetRow[]> {
  return database.rows<MsgSetRow>(
    `SELECT msg_set, msgs, first_sequence FROM ${tables.of('msg_sets')} WHERE first_sequence > {after:UInt64} AND first_sequence <= {up_to:UInt64} ORDER BY msg_set`,
    { after, up_to: upTo },
    { name: 'tx.msg_sets', ...call },
  );
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
  stage(): StagedMsgSets;
}

/** Makes the writer's numbering from what is stored. */
export function createMsgSets(stored: readonly MsgSetRow[]): MsgSets {
  const numbers = new Map(stored.map((row) => [keyOf(row.msgs), row.msg_set]));
  let last = stored.reduce((most, row) => Math.max(most, row.msg_set), 0);
  return {
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

const keyOf = (sorted: readonly string[]): string => JSON.stringify(sorted);
