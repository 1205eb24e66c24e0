import { status } from '@grpc/grpc-js';
import { ReindexServiceClient } from '../../services/common/gen/indexer/reindex/v1/reindex.js';
import { connectRpc, streamRpc } from '../../services/common/rpc/client.js';
import { messageOf, RpcError, UserError } from '../../services/common/runtime/errors.js';
import { type RebuildableName, rebuildable } from '../reindex/services.js';
import { liveLine, type Screen } from '../terminal.js';
import { clientSecurity } from '../transport.js';

/** What `weft verify --views` is asked for. */
export interface ViewsOrder {
  readonly service: RebuildableName;
  /** gRPC of the process that writes the service's tables. */
  readonly address: string;
}

/** Reads which services are meant: all of this machine where none is named. @throws UserError */
export function readViewsOrder(
  names: readonly string[],
  address: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): ViewsOrder[] {
  const all = Object.keys(rebuildable) as RebuildableName[];
  for (const name of names)
    if (!all.includes(name as RebuildableName))
      throw new UserError(
        `there is no service ${JSON.stringify(name)} with views: it is one of ${all.join(', ')}`,
      );
  if (address !== undefined && names.length !== 1)
    throw new UserError('--address is of one service: name that one');
  return (names.length === 0 ? all : (names as RebuildableName[])).map((service) => {
    const { port_setting, port } = rebuildable[service];
    return { service, address: address ?? `127.0.0.1:${env[port_setting] || port}` };
  });
}

/**
 * Compares the views of services with their facts, and prints every difference.
 *
 * @returns the exit code: 0 no difference, 1 differences, 75 a service does not answer.
 */
export async function verifyViews(
  orders: readonly ViewsOrder[],
  screen: Screen,
  signal: AbortSignal,
): Promise<number> {
  const line = liveLine(process.stderr.isTTY ? process.stderr : { write: () => {} });
  let found = 0;
  for (const { service, address } of orders) {
    const client = connectRpc(ReindexServiceClient, address, clientSecurity());
    const parts = new Map<string, number>();
    let differing = 0;
    try {
      for await (const { view, differences } of streamRpc(client.compareViews.bind(client), {}, { signal })) {
        parts.set(view, (parts.get(view) ?? 0) + 1);
        line.show(`${service}: ${view}, part ${parts.get(view)}`);
        for (const { row, is_missing } of differences)
          screen.write(
            `${service}.${view}: ${row} ${is_missing ? 'is missing' : 'is not what the facts give'}\n`,
          );
        differing += differences.length;
      }
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (error.code === status.FAILED_PRECONDITION) throw new UserError(error.message, { cause: error });
      screen.write(signal.aborted ? 'stopped\n' : `${service} at ${address}: ${messageOf(error)}\n`);
      return 75;
    } finally {
      client.close();
    }
    line.show('');
    const views = [...parts.keys()].join(', ');
    screen.write(
      differing === 0
        ? `${service}: ${views || 'no view'}: no difference\n`
        : `${service}: ${differing} differences: weft reindex ${service} makes the tables again\n`,
    );
    found += differing;
  }
  return found > 0 ? 1 : 0;
}
