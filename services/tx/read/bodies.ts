import { status } from '@grpc/grpc-js';
import { createBatcher } from '../../common/batcher.js';
import type { Call, Database } from '../../common/clickhouse/database.js';
import { readRowBinary } from '../../common/clickhouse/row-binary.js';
import { RpcError } from '../../common/errors.js';
import type { Kind, Tables } from '../store/tables.js';
import { createBodyLog } from './body-log.js';
import type { Head } from './head.js';

/** Bodies by number, from memory or the table. */
export interface Bodies {
  /**
   * Bodies in the order asked for.
   *
   * @throws RpcError UNAVAILABLE when one is gone: the chain was rolled back during the call.
   */
  get(kind: Kind, sequences: readonly number[], call: Call): Promise<Buffer[]>;
  /** Remembers a body that was just written. */
  put(kind: Kind, sequence: number, body: Buffer): void;
}

export interface BodiesOptions {
  readonly database: Database;
  readonly tables: Tables;
  /** After a rollback the same numbers stand for other bodies: then the memory is emptied. */
  readonly head: Head;
  /** Memory for bodies, in bytes; 0 for none. */
  readonly cacheBytes: number;
  /** How many queries may run at once. */
  readonly atOnce: number;
}

const kinds = ['tx', 'evm_tx', 'internal_tx'] as const;

/** Bodies that one query fetches for several calls. */
const bodiesAtOnce = 128;

/** Opens the bodies. */
export function createBodies({ database, tables, head, cacheBytes, atOnce }: BodiesOptions): Bodies {
  const cache = cacheBytes === 0 ? undefined : createBodyLog(cacheBytes);
  let revision = head.revision;
  const cacheKey = (kind: Kind, sequence: number): number => sequence * kinds.length + kinds.indexOf(kind);

  const forgetIfRolledBack = (): void => {
    if (revision === head.revision) return;
    revision = head.revision;
    cache?.clear();
  };

  const fetch = async (
    kind: Kind,
    wanted: readonly (readonly number[])[],
    call: Call,
  ): Promise<Map<number, Buffer>> => {
    const began = head.revision;
    const sequences = [...new Set(wanted.flat())];
    const answer = await database.bytes(
      `SELECT sequence, body FROM ${tables.of('bodies')} WHERE kind = {kind:String} AND sequence IN {sequences:Array(UInt64)}`,
      'RowBinary',
      { kind, sequences },
      { name: `tx.${kind}_bodies`, ...call },
    );
    const found = new Map<number, Buffer>();
    for (const rows = readRowBinary(answer); rows.more(); ) {
      const sequence = rows.uint64();
      const body = rows.bytes();
      found.set(sequence, body);
      if (began === head.revision) cache?.put(cacheKey(kind, sequence), body);
    }
    return found;
  };

  const batcherOf = (kind: Kind) =>
    createBatcher<readonly number[], Map<number, Buffer>>({
      run: async (wanted, call) => {
        const found = await fetch(kind, wanted, call);
        return wanted.map(() => found);
      },
      weigh: (sequences) => sequences.length,
      most: bodiesAtOnce,
      atOnce,
    });
  const batchers = Object.fromEntries(kinds.map((kind) => [kind, batcherOf(kind)])) as Record<
    Kind,
    ReturnType<typeof batcherOf>
  >;

  return {
    async get(kind, sequences, call) {
      forgetIfRolledBack();
      const held = sequences.map((sequence) => cache?.get(cacheKey(kind, sequence)));
      const missing = sequences.filter((_, index) => held[index] === undefined);
      const fetched = missing.length === 0 ? undefined : await batchers[kind](missing, call);
      return sequences.map((sequence, index) => {
        const body = held[index] ?? fetched?.get(sequence);
        if (body === undefined) {
          throw new RpcError(
            status.UNAVAILABLE,
            'the chain was rolled back while the call was answered: ask again',
          );
        }
        return body;
      });
    },
    put: (kind, sequence, body) => {
      forgetIfRolledBack();
      cache?.put(cacheKey(kind, sequence), body);
    },
  };
}
