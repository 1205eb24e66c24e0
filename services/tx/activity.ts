import { status } from '@grpc/grpc-js';
import { invalidArgument, RpcError } from '../common/errors.js';
import type { TxServiceServer } from '../common/gen/indexer/tx/v1/tx.js';
import { forward } from '../common/rpc/context.js';
import { streaming } from '../common/rpc/server.js';
import { decodeActivity } from './decode/activity.js';
import { nameScanner } from './decode/names.js';
import type { DecodeOptions } from './decode/types.js';
import { readWindow, type StoredTx } from './read/activity.js';
import type { TxRpcOptions } from './rpc.js';

/** The handler that tells what accounts did in a window of blocks. */
export function activityHandlers(options: TxRpcOptions): Pick<TxServiceServer, 'streamActivity'> {
  const { account_prefix, stopping } = options;
  const names = nameScanner({ vm: options.vm_type as DecodeOptions['vm'], account_prefix });
  return {
    streamActivity: streaming(options, async function* ({ from_height, to_height }, call) {
      const reader = options.reader();
      const { height } = reader.head.position;
      if (from_height < 1 || from_height > to_height)
        throw invalidArgument(`heights ${from_height} to ${to_height} are no window`);
      if (to_height > height)
        throw new RpcError(status.OUT_OF_RANGE, `block ${to_height} is not indexed: the last is ${height}`);
      const decode = ({ body, height: at, position }: StoredTx) => decodeActivity(body, at, position, names);
      for await (const part of readWindow(reader, from_height, to_height, decode, forward(call))) {
        if (call.signal.aborted) return;
        // Not a mere end: what was sent would be taken for everything.
        if (stopping.aborted) throw new RpcError(status.UNAVAILABLE, 'the service is stopping');
        yield part;
      }
    }),
  };
}
