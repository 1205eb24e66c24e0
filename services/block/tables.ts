import { messageOf } from '../common/runtime/errors.js';
import { sleep } from '../common/runtime/lifecycle.js';
import type { Log } from '../common/runtime/log.js';
import type { Head } from './head.js';
import type { BlockStore, HeaderRow, ShownHeader } from './store.js';
import type { Validators } from './validators.js';

/** How often a process of the role `serve` looks at the tables, in milliseconds. */
const look_ms = 250;

/** Headers that are taken over at once, and bytes of them: fees may be large. */
const [headersAtOnce, bytesAtOnce] = [1_000, 8 * 1024 * 1024];

export interface FollowTablesOptions {
  readonly store: BlockStore;
  readonly head: Head;
  readonly validators: Validators;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Told the chain's id once the tables have it. */
  readonly onChain: (chain_id: string) => void;
  /** Told what keeps the process from its work; '' once nothing does. */
  readonly onHindrance: (reason: string) => void;
}

/** Keeps the head as the tables have it, where another process writes them, until the signal. */
export async function followTables(options: FollowTablesOptions): Promise<void> {
  const { store, log, signal, onChain, onHindrance } = options;
  let isChainKnown = false;
  while (!signal.aborted) {
    let isAll = true;
    try {
      if (!isChainKnown) {
        const chain = await store.chain();
        if (chain !== undefined) onChain(chain.chain_id);
        isChainKnown = chain !== undefined;
      }
      isAll = await takeOver(options);
      onHindrance('');
    } catch (error) {
      onHindrance(`the tables do not answer: ${messageOf(error)}`);
      log.warn({ err: error }, `the tables do not answer: ${messageOf(error)}`);
    }
    if (isAll) await sleep(look_ms, signal);
  }
}

/** Takes over what was written since the last look. @returns whether that is all there is. */
async function takeOver({ store, head, validators }: FollowTablesOptions): Promise<boolean> {
  // Asked for first: traces never are ahead of their blocks.
  const trace_height = await store.traceHeight();
  const { last } = head;
  const [ours, ...more] =
    last === undefined ? [] : await store.headers(last.height, last.height + headersAtOnce);
  if (last === undefined || ours?.hash !== last.hash || trace_height < head.trace_height) {
    const range = await store.range();
    if (range === undefined && last === undefined) return true;
    head.reset(range, trace_height);
    await validators.load();
    return true;
  }
  const [newest] = more.slice(-1);
  const shown =
    newest === undefined
      ? []
      : await store.shownHeaders(last.height + 1, newest.height, { stop_after_bytes: bytesAtOnce });
  const next = chained(shown, last);
  if (next.length > 0) head.append([], next);
  if (trace_height > head.trace_height) head.advanceTraces(trace_height);
  // New names change answers about the past.
  if (next.length > 0 && (await validators.load())) head.revise();
  return more.length < headersAtOnce && shown.length >= more.length;
}

/** The headers that follow one without a gap: over several shards a later one may show first. */
function chained(headers: readonly ShownHeader[], before: HeaderRow): ShownHeader[] {
  let last = before;
  const end = headers.findIndex((header) => {
    const fits = header.height === last.height + 1 && header.parent_hash === last.hash;
    last = header;
    return !fits;
  });
  return end === -1 ? [...headers] : headers.slice(0, end);
}
