import type { Call, Database } from '../../common/clickhouse/database.js';
import type { Head } from '../store/cursor.js';
import { readMsgSets } from '../store/msg-sets.js';
import type { Tables } from '../store/tables.js';

/** The sets of message types, in memory: there are few. */
export interface Messages {
  /** Numbers of the sets that have any of the types, of those that were used up to a sequence. */
  setsWithAny(msgs: readonly string[], upTo: number, call: Call): Promise<number[]>;
}

/** Opens the sets; what is new is read when it is needed. */
export function createMessages(database: Database, tables: Tables, head: Head): Messages {
  const setsOf = new Map<string, number[]>();
  let [loadedTo, revision] = [0, head.revision];
  let loading: Promise<void> = Promise.resolve();

  const load = async (wanted: number, call: Call): Promise<void> => {
    // The chain may have been rolled back while another call was loading.
    const upTo = Math.min(wanted, head.position.last.tx);
    if (revision !== head.revision) {
      setsOf.clear();
      [loadedTo, revision] = [0, head.revision];
    }
    if (upTo <= loadedTo) return;
    const before = revision;
    const rows = await readMsgSets(database, tables, loadedTo, upTo, call);
    if (before !== head.revision) return; // rolled back meanwhile: the next call reads anew
    for (const { msg_set, msgs } of rows) {
      for (const msg of msgs) {
        const sets = setsOf.get(msg);
        if (sets === undefined) setsOf.set(msg, [msg_set]);
        else sets.push(msg_set);
      }
    }
    loadedTo = upTo;
  };

  return {
    async setsWithAny(msgs, upTo, call) {
      // One after the other, so that nothing is read twice.
      loading = loading.then(
        () => load(upTo, call),
        () => load(upTo, call),
      );
      await loading;
      return [...new Set(msgs.flatMap((msg) => setsOf.get(msg) ?? []))].sort((a, b) => a - b);
    },
  };
}
