import { status } from '@grpc/grpc-js';
import { RpcError } from '../../common/errors.js';
import type { CallContext } from '../../common/rpc/context.js';
import type { Head } from '../store/cursor.js';

/** How long a call waits for a block that another service has already, in milliseconds. */
const patience_ms = 2_000;

/** How much of a call's time is left for its answer, in milliseconds. */
const reserve_ms = 500;

/**
 * Waits a little until a block is indexed: services are rarely more than a moment apart.
 *
 * @throws RpcError UNAVAILABLE when it is not.
 */
export async function indexed(
  head: Head,
  height: number,
  { deadline, signal }: Pick<CallContext, 'deadline' | 'signal'>,
): Promise<void> {
  const end = Math.min(Date.now() + patience_ms, (deadline ?? Number.POSITIVE_INFINITY) - reserve_ms);
  while (head.position.height < height) {
    const left = end - Date.now();
    if (left <= 0 || signal.aborted)
      throw new RpcError(status.UNAVAILABLE, `block ${height} is not indexed yet`);
    await head.bell.heard(head.bell.count, signal, left);
  }
}
