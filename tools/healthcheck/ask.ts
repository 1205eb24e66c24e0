import { askHealth } from '../../services/common/rpc/client.js';
import { messageOf } from '../../services/common/runtime/errors.js';

/** How long one question may take, in milliseconds. */
const patience_ms = 5_000;

/**
 * Asks a gRPC server how a service of it is, by grpc.health.v1.
 *
 * @param target `host:port/service`, or `host:port` for the server as a whole.
 * @returns '' when it serves, else why not.
 */
export async function askGrpc(target: string): Promise<string> {
  const slash = target.indexOf('/');
  const [address, service] = slash === -1 ? [target, ''] : [target.slice(0, slash), target.slice(slash + 1)];
  try {
    const status = await askHealth(address, service, { deadline: Date.now() + patience_ms });
    return status === 'SERVING' ? '' : status;
  } catch (error) {
    return messageOf(error);
  }
}

/** Asks for a page. @returns '' when it is answered with 200, else what came instead. */
export async function askHttp(url: string): Promise<string> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(patience_ms) });
    const text = await response.text();
    return response.status === 200 ? '' : `${response.status} ${text.slice(0, 200).trim()}`;
  } catch (error) {
    const { message, cause } = error as Error;
    return cause instanceof Error ? cause.message : message;
  }
}
