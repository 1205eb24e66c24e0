import { status } from '@grpc/grpc-js';
import type { BlockServiceServer } from '../common/gen/indexer/block/v1/block.js';
import type { BlockTime } from '../common/gen/indexer/block/v1/times.js';
import { type CallContext, forward } from '../common/rpc/context.js';
import { unary } from '../common/rpc/server.js';
import { invalidArgument, RpcError } from '../common/runtime/errors.js';
import type { BlockRpcOptions } from './rpc.js';
import type { HeaderRow } from './store.js';

/** Most heights that ListBlockTimes takes. */
const timesAtOnce = 10_000;

/** Headers that a search looks at in one query. */
const pivotsAtOnce = 16;

const nanosecondsPerSecond = 1_000_000_000n;

/** The handlers that tell blocks by time. */
export function timeHandlers(
  options: BlockRpcOptions,
): Pick<BlockServiceServer, 'findBlockByTime' | 'listBlockTimes'> {
  const { store, head } = options;

  const headerOf = async (height: number, call: CallContext): Promise<HeaderRow> => {
    const header = head.headers(height, height)?.[0] ?? (await store.header(height, forward(call)));
    if (header === undefined)
      throw new RpcError(status.ABORTED, 'the chain was rolled back while its times were read');
    return header;
  };

  return {
    findBlockByTime: unary(options, async ({ seconds, nanos }, call) => {
      if (nanos >= nanosecondsPerSecond) throw invalidArgument(`nanos ${nanos} is a second or more`);
      const wanted = BigInt(seconds) * nanosecondsPerSecond + BigInt(nanos);
      const [first, last] = [head.first, head.last?.height ?? 0];
      if (last === 0) return { block: undefined, previous: undefined, is_first_of_chain: false };
      // Times never go back, so that cutting finds it: into many parts at once, because headers
      // that are asked for together are one query.
      let [low, high] = [first, last + 1];
      while (low < high) {
        const heights = pivotsBetween(low, high - 1);
        const headers = await Promise.all(heights.map((height) => headerOf(height, call)));
        const found = headers.find(({ time_ns }) => BigInt(time_ns) >= wanted)?.height ?? high;
        low = (heights.findLast((height) => height < found) ?? low - 1) + 1;
        high = found;
      }
      const found = low > last ? undefined : await headerOf(low, call);
      const previous = low === first ? undefined : await headerOf(low - 1, call);
      return {
        block: found && timeOf(found),
        previous: previous && timeOf(previous),
        is_first_of_chain: found !== undefined && (found.parent_hash === '' || found.height === 1),
      };
    }),

    listBlockTimes: unary(options, async ({ from_height, to_height }, call) => {
      if (from_height > to_height)
        throw invalidArgument(`from_height ${from_height} is above to_height ${to_height}`);
      if (to_height - from_height >= timesAtOnce)
        throw invalidArgument(`at most ${timesAtOnce} heights can be asked for at once`);
      const headers =
        head.headers(from_height, to_height) ?? (await store.headers(from_height, to_height, forward(call)));
      if (headers.length !== to_height - from_height + 1)
        throw new RpcError(
          status.OUT_OF_RANGE,
          `not every block from ${from_height} to ${to_height} is indexed`,
        );
      return { blocks: headers.map(timeOf) };
    }),
  };
}

/** Heights spread over a range (inclusive), ascending; all of them where there are few. */
function pivotsBetween(first: number, last: number): number[] {
  const step = Math.ceil((last - first + 1) / pivotsAtOnce);
  const count = Math.floor((last - first) / step) + 1;
  return Array.from({ length: count }, (_, index) => first + index * step);
}

function timeOf({ height, time_ns }: HeaderRow): BlockTime {
  const time = BigInt(time_ns);
  return {
    height,
    seconds: Number(time / nanosecondsPerSecond),
    nanos: Number(time % nanosecondsPerSecond),
  };
}
