import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { type GenerateOptions, generateChain } from './generate.js';
import { type ReplayNode, startReplayNode } from './node.js';
import { preparePack } from './pack/write.js';
import { loadRecording } from './recording.js';

const usage = `weft replay: plays a recorded rollup node over HTTP, or a generated one
  --recording NAME|PATH  evm, move, wasm, wasm-hostile, or a .jsonl(.gz) file (default evm)
  --generate             a generated EVM chain instead of a recording
  --blocks N             its length (default 20000)
  --txs-per-block N      default 5
  --accounts N           how many accounts use it (default 20000)
  --pack FILE            answers ready to send, made there first unless it has them: 42 kB on disk for each
                         generated block, and a third of the processor time for each request
  --port N               default 26657
  --host ADDRESS         default 127.0.0.1
  --tip N                height to start at (default: the whole recording)
  --interval-ms N        a new block so often; 0 for none (default 2000)
  --state FILE           remembers the height, so that the next start goes on with the same chain
  --fail-one-in N        one request in N fails
  --seed N               seed of the failures, and of a generated chain (default 1)
`;

/**
 * `weft replay`: starts a replay node, prints its URLs, and runs until SIGINT or SIGTERM. Throws on arguments
 * that make no sense, with the reason.
 */
export async function runReplay(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      recording: { type: 'string', default: 'evm' },
      generate: { type: 'boolean', default: false },
      blocks: { type: 'string', default: '20000' },
      'txs-per-block': { type: 'string', default: '5' },
      accounts: { type: 'string', default: '20000' },
      pack: { type: 'string' },
      port: { type: 'string', default: '26657' },
      host: { type: 'string', default: '127.0.0.1' },
      tip: { type: 'string' },
      'interval-ms': { type: 'string', default: '2000' },
      state: { type: 'string' },
      'fail-one-in': { type: 'string' },
      seed: { type: 'string', default: '1' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const failOneIn = optionalNumber('fail-one-in', values['fail-one-in']);
  const tip = optionalNumber('tip', values.tip);
  const recording = values.generate
    ? generateChain(generateOptions(values))
    : loadRecording(values.recording);
  if (values.pack && (await preparePack(recording, values.pack)))
    process.stdout.write(`made ${values.pack}\n`);
  const node = await startReplayNode({
    recording,
    ...(values.pack ? { pack_path: values.pack } : {}),
    port: number('port', values.port),
    host: values.host,
    interval_ms: number('interval-ms', values['interval-ms']),
    ...(tip === undefined ? {} : { tip }),
    ...(values.state ? { state_path: values.state } : {}),
    faults: { seed: number('seed', values.seed), ...(failOneIn ? { fail_one_in: failOneIn } : {}) },
  });
  describe(node);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await node.close();
}

function generateOptions(
  values: Record<'blocks' | 'txs-per-block' | 'accounts' | 'seed', string>,
): GenerateOptions {
  return {
    blocks: number('blocks', values.blocks),
    txs_per_block: number('txs-per-block', values['txs-per-block']),
    accounts: number('accounts', values.accounts),
    seed: number('seed', values.seed),
  };
}

function describe(node: ReplayNode): void {
  const { chainId, evm } = node.chain.source;
  process.stdout.write(`chain ${chainId} at height ${node.tip()}\n`);
  process.stdout.write(`RPC_URL=${node.rpc_url}\nREST_URL=${node.rest_url}\n`);
  if (evm) process.stdout.write(`JSON_RPC_URL=${node.json_rpc_url}\n`);
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0)
    throw new Error(`--${name}: want a whole number, got ${text}`);
  return value;
}

function optionalNumber(name: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : number(name, text);
}
