import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { createGzip } from 'node:zlib';
import { capture } from './capture.js';

const usage = `weft capture: records a running rollup node for weft replay
  --rpc URL        CometBFT RPC
  --rest URL       Cosmos REST
  --json-rpc URL   EVM JSON-RPC; leave out on Move and Wasm
  --from H --to H  heights, both included
  --out FILE       .jsonl.gz, or .jsonl for plain text
`;

/** `weft capture`: writes a recording. Throws on missing arguments and when the node does not answer. */
export async function runCapture(
  args: string[],
  print: (text: string) => void = (text) => process.stdout.write(text),
): Promise<void> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args,
    options: {
      rpc: text,
      rest: text,
      'json-rpc': text,
      from: text,
      to: text,
      out: text,
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    print(usage);
    return;
  }
  const { rpc, rest, out } = values;
  if (!rpc || !rest || !out) throw new Error(`--rpc, --rest and --out are needed\n${usage}`);
  const from = height('from', values.from);
  const to = height('to', values.to);
  if (to < from) throw new Error(`--to ${to} is below --from ${from}`);

  const file = createWriteStream(out);
  const sink = out.endsWith('.gz') ? createGzip({ level: 9 }) : undefined;
  if (sink) sink.pipe(file);
  const stream = sink ?? file;
  const written = await capture({
    rpc,
    rest,
    ...(values['json-rpc'] ? { json_rpc: values['json-rpc'] } : {}),
    from,
    to,
    async write(exchange) {
      if (!stream.write(`${JSON.stringify(exchange)}\n`)) await once(stream, 'drain');
    },
  });
  stream.end();
  await finished(file);
  print(`${written} exchanges, heights ${from} to ${to}, in ${out}\n`);
}

function height(name: string, text: string | undefined): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`--${name}: want a height, got ${text ?? 'nothing'}`);
  return value;
}
