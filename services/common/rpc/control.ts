import { createHash, timingSafeEqual } from 'node:crypto';
import { ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js';
import { messageOf, RpcError } from '../runtime/errors.js';
import { answeredStatus } from './context.js';

/** Metadata key of the token that calls have to send that change something. */
export const tokenKey = 'x-weft-token';

/** From whom a server takes calls that change something. */
export interface Control {
  /** The token that they have to send; empty for none. */
  readonly token: string;
  /** Whether everybody who reaches the server may: all have shown a certificate of our CA, or it only listens on Unix sockets. */
  readonly trusts_all: boolean;
}

/** Addresses of this machine, with a port. */
const loopback = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+):\d+$/i;

/**
 * Lets a call through that changes something.
 *
 * @param peer address and port of the caller.
 * @param given the token that it sent.
 * @throws RpcError PERMISSION_DENIED that names the setting.
 */
export function checkControl({ token, trusts_all }: Control, peer: string, given: unknown): void {
  if (trusts_all) return;
  if (token !== '') {
    if (typeof given === 'string' && isSame(given, token)) return;
    throw denied('this call needs the token of GRPC_TOKEN or GRPC_TOKEN_FILE');
  }
  if (loopback.test(peer)) return;
  throw denied(
    'this call changes something and is only taken from the same machine: set GRPC_TOKEN, or certificates, to take it from elsewhere',
  );
}

/** Refuses calls of methods that change something to those who may not call them. */
export function controlCalls(control: Control, changing: ReadonlySet<string | undefined>): ServerInterceptor {
  return ({ path }, call) => {
    if (!changing.has(path)) return new ServerInterceptingCall(call);
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, proceed) => {
            try {
              checkControl(control, call.getPeer(), metadata.get(tokenKey)[0]);
            } catch (error) {
              call.sendStatus(answeredStatus((error as RpcError).code, messageOf(error)));
              return;
            }
            proceed(metadata);
          },
        }),
    });
  };
}

const denied = (message: string): RpcError => new RpcError(status.PERMISSION_DENIED, message);

/** Compares in a time that tells nothing of the token. */
function isSame(a: string, b: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}
