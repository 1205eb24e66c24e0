import { parseArgs } from 'node:util';
import { status } from '@grpc/grpc-js';
import {
  Phase,
  type Progress,
  ReindexServiceClient,
} from '../../services/common/gen/indexer/reindex/v1/reindex.js';
import { callRpc, connectRpc, streamRpc } from '../../services/common/rpc/client.js';
import { messageOf, RpcError, UserError } from '../../services/common/runtime/errors.js';
import { liveLine, type Screen } from '../terminal.js';
import { clientSecurity } from '../transport.js';
import { type RebuildableName, rebuildable } from './services.js';
import { progressLine } from './show.js';

const names = Object.keys(rebuildable).join(', ');

const usage = `weft reindex SERVICE: rebuilds a service's tables from the raw material of the blocks

The node is not asked for blocks, and the tables in use go on serving until the new ones have
caught up with them. What no block tells (names and uris of NFTs, the balances that a rich list
began with, owners of Move objects older than the index) is asked of the tables in use and of the
node; where the node is gone it stays as it was. Ctrl-C leaves the rebuild running; so does a restart of the service.
SERVICE is one of: ${names}.

  --watch              shows how the rebuild that runs gets on
  --cancel             gives the rebuild that runs up; with --watch: when Ctrl-C is pressed
  --address HOST:PORT  gRPC of the process that writes the service's tables
                       (default: where weft start has it on this machine)

Exit codes: 0 the new tables are in use (or the rebuild was cancelled by --cancel), 1 a mistake
in what was asked for, 75 the service does not answer or the rebuild ended early: try again,
130 left by Ctrl-C while it goes on.
`;

/** What the command line asks for. */
interface Order {
  readonly service: RebuildableName;
  readonly address: string;
  /** Whether a rebuild begins; else one that runs is meant. */
  readonly starts: boolean;
  readonly watch: boolean;
  readonly cancel: boolean;
}

/** `weft reindex`: ends the process with one of the codes in its usage. */
export async function runReindex(args: string[]): Promise<void> {
  process.exitCode = await reindexCommand(args, process.env, process.stdout);
}

/**
 * Runs the command.
 *
 * @returns the exit code.
 * @throws UserError for a mistake in the arguments or in what was asked of the service.
 */
export async function reindexCommand(
  args: string[],
  env: Readonly<Record<string, string | undefined>>,
  screen: Screen,
): Promise<number> {
  const order = readOrder(args, env);
  if (order !== undefined) return reindex(order, screen);
  screen.write(usage);
  return 0;
}

/** Reads the command line; undefined when help is wanted. @throws UserError */
export function readOrder(
  args: string[],
  env: Readonly<Record<string, string | undefined>>,
): Order | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      from: { type: 'string' },
      watch: { type: 'boolean', default: false },
      cancel: { type: 'boolean', default: false },
      address: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new UserError(`name one service: ${names}\n\n${usage}`);
  if (!Object.hasOwn(rebuildable, name))
    throw new UserError(`there is no service ${JSON.stringify(name)} to rebuild: it is one of ${names}`);
  const service = name as RebuildableName;
  if (values.from !== undefined)
    throw new UserError(`a service is always rebuilt from its first block: leave --from out\n\n${usage}`);
  const { port_setting, port } = rebuildable[service];
  return {
    service,
    address: values.address ?? `127.0.0.1:${env[port_setting] || port}`,
    starts: !values.watch && !values.cancel,
    watch: values.watch,
    cancel: values.cancel,
  };
}

/** Statuses that are mistakes of the one who asks. */
const mistakes: readonly status[] = [
  status.INVALID_ARGUMENT,
  status.ALREADY_EXISTS,
  status.FAILED_PRECONDITION,
  status.NOT_FOUND,
  status.UNIMPLEMENTED,
];

async function reindex(order: Order, screen: Screen): Promise<number> {
  const client = connectRpc(ReindexServiceClient, order.address, clientSecurity());
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, leave);
  try {
    if (!order.starts && !order.watch) {
      await callRpc(client.cancelReindex.bind(client), {});
      screen.write('the rebuild is cancelled; what was in use stays in use\n');
      return 0;
    }
    const isDone = await follow(client, order, screen, leaving.signal);
    if (isDone) return 0;
    if (!leaving.signal.aborted) throw new RpcError(status.UNAVAILABLE, 'the service ended the stream');
    if (order.cancel) {
      await callRpc(client.cancelReindex.bind(client), {});
      screen.write('the rebuild is cancelled\n');
      return 0;
    }
    screen.write(`the rebuild goes on; weft reindex ${order.service} --watch shows it, --cancel ends it\n`);
    return 130;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (mistakes.includes(error.code)) throw new UserError(error.message, { cause: error });
    screen.write(`${order.address}: ${messageOf(error)}\n`);
    return 75;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, leave);
    client.close();
  }
}

/** Shows the progress until the new tables are in use: then true; false when the signal came first. */
async function follow(
  client: ReindexServiceClient,
  order: Order,
  screen: Screen,
  signal: AbortSignal,
): Promise<boolean> {
  const line = liveLine(screen);
  const answers: AsyncIterable<{ progress: Progress | undefined }> = order.starts
    ? streamRpc(client.reindex.bind(client), {}, { signal })
    : streamRpc(client.watchReindex.bind(client), {}, { signal });
  let isShown = false;
  try {
    for await (const { progress } of answers) {
      if (progress === undefined) continue;
      if (progress.phase === Phase.DONE) {
        line.end(`the rebuilt tables are in use, at block ${progress.height}`);
        return true;
      }
      isShown = true;
      line.show(progressLine(progress));
    }
    return false;
  } finally {
    if (isShown && screen.isTTY) screen.write('\n');
  }
}
