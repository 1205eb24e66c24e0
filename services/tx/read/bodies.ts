import { status } from '@grpc/grpc-js';
import type { Call, Database } from '../../common/clickhouse/database.js';
import { readRowBinary } from '../../common/clickhouse/formats.js';
import type { LargeBody } from '../../common/gen/indexer/tx/v1/tx.js';
import { countFitting, type PageBound } from '../../common/page/fit.js';
import { RpcError } from '../../common/runtime/errors.js';
import { createBatcher } from '../../common/util/batcher.js';
import { createMutex } from '../../common/util/concurrency.js';
import type { FactFiles } from '../../common/util/fact-files.js';
import type { Head } from '../store/cursor.js';
import type { Kind, Tables } from '../store/tables.js';
import { createBodyLog } from './body-log.js';

/** Those bodies of a page that fit into an answer. */
export interface FittingBodies {
  /** The first or the last ones of those asked for, in their order. */
  readonly bodies: Buffer[];
  /** The only one that fits, where it is larger than a page may be: then `bodies` is empty. */
  readonly large: LargeBody | undefined;
  /** How many fit. */
  readonly count: number;
}

/** Bodies by number, from memory or the table. */
export interface Bodies {
  /**
   * As many bodies as a page holds, at least one, in the order asked for. What is too large is not read.
   *
   * @param from_end whether the last ones are given, rather than the first, where not all fit.
   * @throws RpcError UNAVAILABLE when one is gone: the chain was rolled back during the call.
   */
  get(kind: Kind, sequences: readonly number[], from_end: boolean, call: Call): Promise<FittingBodies>;
  /**
   * The bytes of a large body, a part at a time: in the whole process one part is read at a time.
   *
   * @throws RpcError ABORTED when the chain was rolled back since the reference was made.
   */
  parts(body: LargeBody, call: Call): AsyncGenerator<Buffer, void, undefined>;
  /** Keeps bodies that were just written. */
  put(kind: Kind, written: ReadonlyMap<number, string>): void;
  /** Bytes of memory in use. */
  readonly size: number;
}

export interface BodiesOptions {
  readonly database: Database;
  readonly tables: Tables;
  /** After a rollback the same numbers stand for other bodies: then the memory is emptied. */
  readonly head: Head;
  /** Memory for bodies, in bytes; 0 for none. */
  readonly cacheBytes: number;
  /** The bodies on local disk. */
  readonly files: FactFiles;
  /** How many queries may run at once. */
  readonly atOnce: number;
  readonly page: PageBound;
}

const kinds = ['tx', 'evm_tx', 'internal_tx'] as const;

/** Bodies that one query fetches for several calls. */
const bodiesAtOnce = 128;

/** Bytes of a large body that are read at once. */
const part_bytes = 4 * 1024 * 1024;

const rolledBack = (): RpcError =>
  new RpcError(status.UNAVAILABLE, 'the chain was rolled back while the call was answered: ask again');

/** Opens the bodies. */
export function createBodies({
  database,
  tables,
  head,
  cacheBytes,
  files,
  atOnce,
  page,
}: BodiesOptions): Bodies {
  const cache = cacheBytes === 0 ? undefined : createBodyLog(cacheBytes);
  let revision = head.revision;
  const cacheKey = (kind: Kind, sequence: number): number => sequence * kinds.length + kinds.indexOf(kind);
  const onePart = createMutex();

  const forgetIfRolledBack = (): void => {
    if (revision === head.revision) return;
    revision = head.revision;
    cache?.clear();
  };

  const remember = (kind: Kind, bodies: ReadonlyMap<number, string | Buffer>): void => {
    if (cache !== undefined) for (const [sequence, body] of bodies) cache.put(cacheKey(kind, sequence), body);
  };

  /** Bodies in the order of their numbers, and none after a page's worth of them. */
  const fetch = async (
    kind: Kind,
    sequences: readonly number[],
    call: Call,
  ): Promise<Map<number, Buffer>> => {
    const began = head.revision;
    const answer = await database.bytes(
      `SELECT sequence, body FROM ${tables.of('bodies')} WHERE kind = {kind:String} AND sequence IN {sequences:Array(UInt64)}`,
      'RowBinary',
      { kind, sequences },
      { name: `tx.${kind}_bodies`, ...call, stop_after_bytes: page.max_bytes },
    );
    const found = new Map<number, Buffer>();
    for (const rows = readRowBinary(answer); rows.more(); ) found.set(rows.uint64(), rows.bytes());
    if (began === head.revision) {
      remember(kind, found);
      files.put(kind, found);
    }
    return found;
  };

  /** Lengths are columns of their own to the engine: no body is read for this. */
  const lengthsOf = async (
    kind: Kind,
    sequences: readonly number[],
    call: Call,
  ): Promise<Map<number, number>> => {
    const rows = await database.rows<{ sequence: number; size: number }>(
      `SELECT sequence, length(b.body) AS size FROM ${tables.of('bodies')} AS b WHERE kind = {kind:String} AND sequence IN {sequences:Array(UInt64)}`,
      { kind, sequences },
      { name: `tx.${kind}_lengths`, ...call },
    );
    return new Map(rows.map(({ sequence, size }) => [sequence, size]));
  };

  const batcherOf = (kind: Kind) =>
    createBatcher<readonly number[], Map<number, Buffer>>({
      run: async (wanted, call) => {
        const found = await fetch(kind, [...new Set(wanted.flat())], call);
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

  /** The lengths of bodies, of which some were fetched already, and of others the files have said it. */
  const sizesOf = async (
    kind: Kind,
    sequences: readonly number[],
    found: ReadonlyMap<number, Buffer>,
    stored: ReadonlyMap<number, number>,
    call: Call,
  ): Promise<number[]> => {
    const missing = sequences.filter((sequence) => !found.has(sequence) && !stored.has(sequence));
    const lengths = missing.length === 0 ? undefined : await lengthsOf(kind, missing, call);
    return sequences.map((sequence) => {
      const size = found.get(sequence)?.length ?? stored.get(sequence) ?? lengths?.get(sequence);
      if (size === undefined) throw rolledBack();
      return size;
    });
  };

  return {
    async get(kind, sequences, from_end, call) {
      forgetIfRolledBack();
      const began = head.revision;
      const found = new Map<number, Buffer>();
      const missingIn = (some: readonly number[]): number[] =>
        some.filter((sequence) => !found.has(sequence));
      const take = (fetched: ReadonlyMap<number, Buffer>): void => {
        for (const [sequence, body] of fetched) found.set(sequence, body);
      };
      for (const sequence of sequences) {
        const body = cache?.get(cacheKey(kind, sequence));
        if (body !== undefined) found.set(sequence, body);
      }
      const stored = await files.lengths(kind, missingIn(sequences));
      const missing = missingIn(sequences).filter((sequence) => !stored.has(sequence));
      if (missing.length > 0) take(await batchers[kind](missing, call));

      const sizes = await sizesOf(kind, sequences, found, stored, call);
      const count = countFitting(sizes, page.max_bytes, from_end);
      const fitting = from_end ? sequences.slice(sequences.length - count) : sequences.slice(0, count);
      const [sequence] = fitting;
      const size = sizes[from_end ? sizes.length - 1 : 0] ?? 0;
      if (count === 1 && sequence !== undefined && size > page.max_bytes)
        return { bodies: [], large: { kind, sequence, size, revision: began }, count };
      if (missingIn(fitting).length > 0) {
        const read = await files.get(kind, missingIn(fitting), page.max_bytes);
        if (began === head.revision) {
          take(read);
          remember(kind, read);
        }
      }
      // Not with those of others: together they may be more than is read at once.
      const left = missingIn(fitting);
      if (left.length > 0) take(await fetch(kind, left, call));
      const bodies = fitting.map((wanted) => {
        const body = found.get(wanted);
        if (body === undefined) throw rolledBack();
        return body;
      });
      return { bodies, large: undefined, count };
    },
    async *parts({ kind, sequence, size, revision: expected }, call) {
      for (let from = 0; from < size; from += part_bytes) {
        const part = await onePart(() =>
          database.bytes(
            `SELECT substring(body, {from:UInt64}, {length:UInt64}) FROM ${tables.of('bodies')} WHERE kind = {kind:String} AND sequence = {sequence:UInt64}`,
            'RowBinary',
            { kind, sequence, from: from + 1, length: part_bytes },
            { name: 'tx.body_part', ...call },
          ),
        );
        const rows = readRowBinary(part);
        const bytes = rows.more() ? rows.bytes() : undefined;
        if (head.revision !== expected || bytes?.length !== Math.min(part_bytes, size - from))
          throw new RpcError(status.ABORTED, 'the chain was rolled back while the tx was read: ask again');
        yield bytes;
      }
    },
    put: (kind, written) => {
      forgetIfRolledBack();
      remember(kind, written);
      files.put(kind, written);
    },
    get size() {
      return cache?.size ?? 0;
    },
  };
}
