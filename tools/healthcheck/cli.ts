import { parseArgs } from 'node:util';
import { TryAgainError, UserError } from '../../services/common/runtime/errors.js';
import { sleep } from '../../services/common/runtime/lifecycle.js';
import { askGrpc, askHttp } from './ask.js';

const usage = `weft healthcheck: asks services and the gateway how they are

  --grpc HOST:PORT/NAME  gRPC health of the service NAME (without /NAME: of the process); may be repeated
  --http URL             a page that has to be answered with 200; may be repeated
  --timeout SECONDS      how long to wait for those that are not well yet (default 60)

Exit codes: 0 all are well, 75 some are not.
`;

/** How often those that are not well yet are asked again, in milliseconds. */
const again_ms = 1_000;

/** `weft healthcheck`. @throws UserError for mistakes in the arguments, TryAgainError when something is not well. */
export async function runHealthcheck(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      grpc: { type: 'string', multiple: true, default: [] },
      http: { type: 'string', multiple: true, default: [] },
      timeout: { type: 'string', default: '60' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const { grpc, http } = values;
  if (grpc.length + http.length === 0) throw new UserError(`nothing to ask\n\n${usage}`);
  if (!/^\d{1,5}$/.test(values.timeout)) throw new UserError('--timeout: must be a number of seconds');
  for (const url of http) if (!URL.canParse(url)) throw new UserError(`--http ${url}: must be a URL`);
  for (const target of grpc)
    if (!/^[^/\s]+:\d+(\/\S*)?$/.test(target))
      throw new UserError(`--grpc ${target}: must be HOST:PORT or HOST:PORT/NAME`);
  const end = Date.now() + Number(values.timeout) * 1_000;
  const results = await Promise.all([
    ...grpc.map((target) => askUntil(`grpc ${target}`, () => askGrpc(target), end)),
    ...http.map((url) => askUntil(`http ${url}`, () => askHttp(url), end)),
  ]);
  const ill = results.filter((isWell) => !isWell).length;
  if (ill > 0) throw new TryAgainError(`${ill} of ${results.length} are not well`);
}

/** Asks until the answer is '' or the time is over, and prints the last one. @returns whether all was well. */
async function askUntil(what: string, ask: () => Promise<string>, end: number): Promise<boolean> {
  for (;;) {
    const trouble = await ask();
    if (trouble === '' || Date.now() >= end) {
      process.stdout.write(
        `${trouble === '' ? 'well' : 'ILL '}  ${what}${trouble === '' ? '' : `: ${trouble}`}\n`,
      );
      return trouble === '';
    }
    await sleep(again_ms);
  }
}
