import type { RawBlock, RawTrace } from '../common/gen/indexer/block/v1/block.js';
import { type Bell, createBell } from '../common/util/signal.js';
import type { HeaderRow, ShownHeader } from './store.js';

/** How far the service is, and the newest blocks, in memory. Written by the one follower. */
export interface Head {
  /** First indexed height; 0 while nothing is indexed. */
  readonly first: number;
  /** Newest header; undefined while nothing is indexed. */
  readonly last: HeaderRow | undefined;
  /** Last height whose traces are stored. */
  readonly trace_height: number;
  /** Tip of the chain as last heard. */
  readonly node_height: number;
  /** Grows whenever answers about the past may have changed. */
  readonly revision: number;
  /** Rings at every change. */
  readonly bell: Bell;
  /** Takes over what a start, or another process, found in the tables. */
  reset(range: { first: HeaderRow; last: HeaderRow } | undefined, trace_height: number): void;
  /** Adds headers of blocks that are written, and the blocks themselves where they are at hand. */
  append(blocks: readonly RawBlock[], headers: readonly ShownHeader[]): void;
  /** Adds traces that are written. */
  appendTraces(traces: readonly RawTrace[]): void;
  /** Traces up to a height are in the tables, but not at hand. */
  advanceTraces(height: number): void;
  setNodeHeight(height: number): void;
  /** Says that answers about the past may have changed. */
  revise(): void;
  /** The newest blocks from a height on, if memory has them all; undefined otherwise. */
  tail(from: number): readonly RawBlock[] | undefined;
  /** The newest headers of a range (inclusive), if memory has them all; undefined otherwise. */
  headers(from: number, to: number): readonly ShownHeader[] | undefined;
  /** As `tail`, for traces. */
  traceTail(from: number): readonly RawTrace[] | undefined;
  /** Bytes of material in memory, of blocks and of traces. */
  held(): number;
}

/** The newest headers are kept, so that the pages that are asked for most need no query. */
const headersKept = 2_000;

/** Fees are offered in as many denoms as somebody likes: with each so many characters, a header counts as one more. */
const ordinaryFees = 1_000;

/** The newest items by height, as many as fit into a size. */
function createTail<T extends { readonly height: number }>(size: number, sizeOf: (item: T) => number) {
  let items: T[] = [];
  let held = 0;
  return {
    clear(): void {
      items = [];
      held = 0;
    },
    add(more: readonly T[]): void {
      for (const item of more) {
        items.push(item);
        held += sizeOf(item);
      }
      let dropped = 0;
      while (held > size && dropped < items.length - 1) held -= sizeOf(items[dropped++] as T);
      if (dropped > 0) items = items.slice(dropped);
    },
    held: () => held,
    /** Those from a height on; undefined when some of them are gone. */
    from(height: number): readonly T[] | undefined {
      const first = items[0];
      return first === undefined || height < first.height ? undefined : items.slice(height - first.height);
    },
  };
}

/** Makes an empty head. @param tailBytes how many bytes of material to keep in memory. */
export function createHead(tailBytes: number): Head {
  const bell = createBell();
  const state = {
    first: 0,
    last: undefined as HeaderRow | undefined,
    trace_height: 0,
    node_height: 0,
    // Not one that a process before this one has had.
    revision: Date.now(),
  };
  // Counted as it takes memory, which is compressed: who reads of it counts what it comes to, see `stream.ts`.
  const blockTail = createTail<RawBlock>(tailBytes, (block) => block.material.length);
  const traceTail = createTail<RawTrace>(tailBytes / 2, (trace) => trace.material.length);
  const headerTail = createTail<ShownHeader>(
    headersKept,
    ({ total_fee }) => 1 + Math.floor(total_fee.length / ordinaryFees),
  );
  return {
    bell,
    get first() {
      return state.first;
    },
    get last() {
      return state.last;
    },
    get trace_height() {
      return state.trace_height;
    },
    get node_height() {
      return state.node_height;
    },
    get revision() {
      return state.revision;
    },
    reset(range, trace_height) {
      blockTail.clear();
      traceTail.clear();
      headerTail.clear();
      state.first = range?.first.height ?? 0;
      state.last = range?.last;
      state.trace_height = trace_height;
      state.revision += 1;
      bell.ring();
    },
    append(blocks, headers) {
      if (state.first === 0) state.first = headers[0]?.height ?? 0;
      state.last = headers.at(-1) ?? state.last;
      blockTail.add(blocks);
      headerTail.add(headers);
      bell.ring();
    },
    appendTraces(traces) {
      state.trace_height = traces.at(-1)?.height ?? state.trace_height;
      traceTail.add(traces);
      bell.ring();
    },
    advanceTraces(height) {
      traceTail.clear();
      state.trace_height = height;
      bell.ring();
    },
    setNodeHeight(height) {
      state.node_height = height;
    },
    revise() {
      state.revision += 1;
      bell.ring();
    },
    tail: (from) => blockTail.from(from),
    headers: (from, to) => headerTail.from(from)?.slice(0, to - from + 1),
    traceTail: (from) => traceTail.from(from),
    held: () => blockTail.held() + traceTail.held(),
  };
}
