import { setMaxListeners } from 'node:events';
import { parseArgs } from 'node:util';
import { createEndpoints, NodeError } from '../../services/common/chain/endpoints.js';
import { asInteger, loadSettings } from '../../services/common/runtime/config.js';
import { messageOf, UserError } from '../../services/common/runtime/errors.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { proxySettings } from '../../services/common/runtime/network.js';
import { chainSettings, nodeSettings } from '../../services/common/runtime/settings.js';
import { gatewaySettings } from '../../services/gateway/config.js';
import { liveLine, type Screen } from '../terminal.js';
import { ApiUnavailable, createApi } from './api.js';
import { type Summary, verify } from './verify.js';
import { readViewsOrder, verifyViews } from './views.js';

const usage = `weft verify: compares what is indexed with what the node says now

Prints every difference as a line that names both sides, then a summary. Where a contract denies
what its own events say, and the index has what they say, that is a note. The node is given by the
same environment variables as to weft start, or by options.

  --rpc-url URLS       CometBFT RPC (RPC_URL)
  --rest-url URLS      Cosmos REST (REST_URL)
  --json-rpc-url URLS  EVM JSON-RPC (JSON_RPC_URL); without it receipts and internal txs are left out
  --vm-type VM         evm, move or wasm (VM_TYPE)
  --api URL            base URL of the index's HTTP API (default: where weft start has it on this machine)
  --from H --to H      heights, both included (default: all that both have)
  --sample N           how many heights to compare, and how many items of state (default 100)
  --all                compare everything

weft verify --views [SERVICE...]: compares the lists that change with every block with the facts that
they follow from, inside the index: of tx, nft and richlist, or of those that are named. The node is
not asked, and the services go on.

  --address HOST:PORT  gRPC of the process that writes the tables of the one service that is named
                       (default: where weft start has it on this machine)

Exit codes: 0 no difference, 1 differences or a mistake in the options, 75 a side does not answer.
`;

/** Settings that options may stand for. */
const settings = {
  RPC_URL: nodeSettings.RPC_URL,
  REST_URL: nodeSettings.REST_URL,
  JSON_RPC_URL: nodeSettings.JSON_RPC_URL,
  NODE_TIMEOUT_MS: nodeSettings.NODE_TIMEOUT_MS,
  ...proxySettings,
  VM_TYPE: chainSettings.VM_TYPE,
  ACCOUNT_ADDRESS_PREFIX: chainSettings.ACCOUNT_ADDRESS_PREFIX,
  PORT: gatewaySettings.PORT,
  BASE_PATH: gatewaySettings.BASE_PATH,
};

/** How many heights are compared unless the options say otherwise. */
const defaultSample = 100;

/** `weft verify`: ends the process with one of the codes in its usage. */
export async function runVerify(args: string[]): Promise<void> {
  process.exitCode = await verifyCommand(args, process.env, process.stdout);
}

/**
 * Runs the command.
 *
 * @returns the exit code.
 * @throws UserError for a mistake in the options.
 */
export async function verifyCommand(
  args: string[],
  env: Readonly<Record<string, string | undefined>>,
  screen: Screen,
): Promise<number> {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      'rpc-url': text,
      'rest-url': text,
      'json-rpc-url': text,
      'vm-type': text,
      api: text,
      from: text,
      to: text,
      sample: text,
      all: { type: 'boolean', default: false },
      views: { type: 'boolean', default: false },
      address: text,
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    screen.write(usage);
    return 0;
  }
  if (!values.views && (positionals.length > 0 || values.address !== undefined))
    throw new UserError(`services and --address go with --views\n\n${usage}`);
  const leaving = new AbortController();
  setMaxListeners(0, leaving.signal); // every request under way listens to it
  const leave = (): void => leaving.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, leave);
  try {
    return values.views
      ? await verifyViews(readViewsOrder(positionals, values.address, env), screen, leaving.signal)
      : await verifyChain(values, env, screen, leaving.signal);
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, leave);
  }
}

/** What a comparison with the node is told on the command line. */
type ChainOptions = Readonly<
  Partial<
    Record<
      'rpc-url' | 'rest-url' | 'json-rpc-url' | 'vm-type' | 'api' | 'from' | 'to' | 'sample',
      string | undefined
    >
  >
> & { readonly all: boolean };

/** Compares what is indexed with what the node says. @returns the exit code. @throws UserError */
async function verifyChain(
  values: ChainOptions,
  env: Readonly<Record<string, string | undefined>>,
  screen: Screen,
  signal: AbortSignal,
): Promise<number> {
  const config = loadSettings(settings, {
    ...env,
    ...given('RPC_URL', values['rpc-url']),
    ...given('REST_URL', values['rest-url']),
    ...given('JSON_RPC_URL', values['json-rpc-url']),
    ...given('VM_TYPE', values['vm-type']),
  });
  if (config.RPC_URL.length === 0) throw new UserError('no node to compare with: give --rpc-url or RPC_URL');
  if (values.all && values.sample !== undefined) throw new UserError('--all and --sample exclude each other');
  const [from, to] = [height('from', values.from), height('to', values.to)];
  if (from !== undefined && to !== undefined && from > to)
    throw new UserError(`--from ${from} is above --to ${to}`);

  const shared = {
    log: createLog('silent'),
    metrics: createMetrics(),
    timeout_ms: config.NODE_TIMEOUT_MS,
    connections: 8,
  };
  const [rpc, rest, json_rpc] = [
    createEndpoints('rpc', config.RPC_URL, shared),
    createEndpoints('rest', config.REST_URL, shared),
    createEndpoints('jsonrpc', config.JSON_RPC_URL, shared),
  ];
  const base = values.api?.replace(/\/+$/, '') ?? `http://127.0.0.1:${config.PORT}${config.BASE_PATH}`;
  const api = createApi(base, signal);
  const line = liveLine(process.stderr.isTTY ? process.stderr : { write: () => {} });
  try {
    const summary = await verify({
      sides: {
        api,
        rpc,
        rest,
        json_rpc,
        vm_type: config.VM_TYPE,
        account_prefix: config.ACCOUNT_ADDRESS_PREFIX,
        signal,
      },
      from,
      to,
      sample: values.all ? undefined : (height('sample', values.sample) ?? defaultSample),
      print: (difference) => screen.write(`${difference}\n`),
      onProgress: (done, of) => line.show(`compared ${done} of ${of} heights`),
    });
    line.show('');
    screen.write(summaryOf(summary));
    return [...summary.values()].some(({ different }) => different > 0) ? 1 : 0;
  } catch (error) {
    if (!(error instanceof NodeError || error instanceof ApiUnavailable)) throw error;
    screen.write(signal.aborted ? 'stopped\n' : `not compared to the end: ${messageOf(error)}\n`);
    return 75;
  } finally {
    await Promise.all([api, rpc, rest, json_rpc].map((each) => each.close()));
  }
}

const given = (name: string, value: string | undefined): Record<string, string> =>
  value === undefined ? {} : { [name]: value };

/** A height or a number of them; undefined when it is not given. @throws UserError */
function height(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  try {
    return asInteger(1)(text);
  } catch (error) {
    throw new UserError(`--${name} ${JSON.stringify(text)} ${messageOf(error)}`);
  }
}

function summaryOf(summary: Summary): string {
  const lines = [...summary].map(
    ([name, { compared, different, noted }]) =>
      `${name}: ${compared} compared, ${different === 0 ? 'no difference' : different === 1 ? '1 difference' : `${different} differences`}${noted === 0 ? '' : noted === 1 ? ', 1 note' : `, ${noted} notes`}\n`,
  );
  return lines.join('');
}
