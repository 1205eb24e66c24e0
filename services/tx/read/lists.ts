import { status } from '@grpc/grpc-js';
import type { Call } from '../../common/clickhouse/database.js';
import type { PageRequest, PageResponse } from '../../common/gen/indexer/common/v1/common.js';
import type { LargeBody } from '../../common/gen/indexer/tx/v1/tx.js';
import { type DenseList, type DensePage, densePage } from '../../common/page/dense.js';
import { isFromEnd, shortened } from '../../common/page/fit.js';
import { RpcError } from '../../common/runtime/errors.js';
import { accountLists, type Kind } from '../store/tables.js';
import { emptyRange } from './block-ranges.js';
import type { FittingBodies } from './bodies.js';
import type { Reader } from './reader.js';

/** A page of bodies. */
export interface BodyPage {
  readonly bodies: Buffer[];
  /** The only item of the page, where it is too large to be held. */
  readonly large: LargeBody | undefined;
  readonly pagination: PageResponse;
}

/** A page whose bodies are not read yet. */
export interface SequencePage {
  /** In the order of the page. */
  readonly sequences: readonly number[];
  readonly pagination: PageResponse;
}

/**
 * The bodies of a page, which ends early where they are larger than a page may be.
 *
 * @param pageOf which bodies the page of a request has.
 */
export async function withBodies(
  reader: Reader,
  kind: Kind,
  request: PageRequest,
  pageOf: (request: PageRequest) => SequencePage | Promise<SequencePage>,
  call: Call,
): Promise<BodyPage> {
  const { sequences, pagination } = await pageOf(request);
  const { bodies, large, count } = await reader.bodies.get(kind, sequences, isFromEnd(request), call);
  if (count === sequences.length) return { bodies, large, pagination };
  const page = await pageOf(shortened(request, count, reader.page));
  return { bodies, large, pagination: page.pagination };
}

/** Consecutive numbers, inclusive, in the order of a page. */
function numbersOf({ from, to }: DensePage, descending: boolean): number[] {
  const numbers = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
  return descending ? numbers.reverse() : numbers;
}

/** A page of consecutive sequences. */
function pageOfSequences(
  reader: Reader,
  kind: Kind,
  list: DenseList,
  request: PageRequest,
  call: Call,
): Promise<BodyPage> {
  const pageOf = (wanted: PageRequest): SequencePage => {
    const page = densePage(wanted, list);
    return { sequences: numbersOf(page, wanted.reverse), pagination: page.pagination };
  };
  return withBodies(reader, kind, request, pageOf, call);
}

/** Everything of a kind. */
export function listAll(reader: Reader, kind: Kind, request: PageRequest, call: Call): Promise<BodyPage> {
  const last = reader.head.position.last[kind];
  return pageOfSequences(reader, kind, { name: kind, first: 1, last }, request, call);
}

/** What a block holds of a kind. */
export async function listByHeight(
  reader: Reader,
  kind: Kind,
  height: number,
  request: PageRequest,
  call: Call,
): Promise<BodyPage> {
  const { position } = reader.head;
  const top = kind === 'internal_tx' ? position.internal_height : position.height;
  const range = height < 1 || height > top ? emptyRange : await reader.blockRanges(kind, height, call);
  return pageOfSequences(reader, kind, { name: `${kind}/by_height/${height}`, ...range }, request, call);
}

/** What names an account, or with `sent` what it signed or sent. */
export async function listByAccount(
  reader: Reader,
  kind: Kind,
  account: string,
  sent: boolean,
  request: PageRequest,
  call: Call,
): Promise<BodyPage> {
  const list = accountLists[kind][sent ? 'sent' : 'named'];
  const upTo = reader.head.position.last[kind];
  const { count, latest } = await reader.accounts.end(list, account, upTo, call);
  const pageOf = async (wanted: PageRequest): Promise<SequencePage> => {
    const page = densePage(wanted, { name: `${list}/by_account/${account}`, first: 1, last: count });
    const { from, to, pagination } = page;
    // The newest items are known already: a wallet's page needs no further look.
    const sequences =
      from > count - latest.length
        ? numbersOf(page, false).map((ord) => latest[count - ord] as number)
        : await reader.accounts.range({ list, account, from, to }, call);
    return { sequences: wanted.reverse ? sequences.toReversed() : sequences, pagination };
  };
  return withBodies(reader, kind, request, pageOf, call);
}

/** The call frames of an Ethereum tx; undefined when there is no such tx. */
export async function listInternalByHash(
  reader: Reader,
  hash: string,
  request: PageRequest,
  call: Call,
): Promise<BodyPage | undefined> {
  const { last } = reader.head.position;
  const [frames, tx] = await Promise.all([
    reader.hashes.find('internal_tx', hash, last.internal_tx, call),
    reader.hashes.find('evm_tx', hash, last.evm_tx, call),
  ]);
  if (tx === undefined) return undefined;
  const range =
    frames === undefined
      ? emptyRange
      : { first: frames.sequence, last: frames.sequence + frames.body_count - 1 };
  return pageOfSequences(
    reader,
    'internal_tx',
    { name: `internal_tx/by_hash/${hash}`, ...range },
    request,
    call,
  );
}

/** A body, or where to read it from if it is too large to be held. */
export interface OneBody {
  readonly body: Buffer;
  readonly large: LargeBody | undefined;
}

const nothing = Buffer.alloc(0);

/** The body of a hash; undefined when it is unknown. */
export async function getByHash(
  reader: Reader,
  kind: Kind,
  hash: string,
  call: Call,
): Promise<OneBody | undefined> {
  const entry = await reader.hashes.find(kind, hash, reader.head.position.last[kind], call);
  if (entry === undefined) return undefined;
  const { bodies, large } = await reader.bodies.get(kind, [entry.sequence], false, call);
  return { body: bodies[0] ?? nothing, large };
}

/**
 * The bodies of hashes, in the order asked for, as many as fit into an answer.
 *
 * @param from_end whether the last ones are given where not all fit.
 * @throws RpcError UNAVAILABLE when one is not indexed: who asks knows that it is in the chain.
 */
export async function getByHashes(
  reader: Reader,
  kind: Kind,
  hashes: readonly string[],
  from_end: boolean,
  call: Call,
): Promise<FittingBodies> {
  const upTo = reader.head.position.last[kind];
  const entries = await Promise.all(hashes.map((hash) => reader.hashes.find(kind, hash, upTo, call)));
  const sequences = entries.map((entry, index) => {
    if (entry === undefined)
      throw new RpcError(status.UNAVAILABLE, `the tx ${hashes[index]} is not indexed yet`);
    return entry.sequence;
  });
  return reader.bodies.get(kind, sequences, from_end, call);
}
