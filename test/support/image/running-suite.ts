import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { freePort } from '../../../tools/bench/processes.js';
import { eventually } from '../block.js';
import type { Buildah } from './buildah.js';

/** A container of the image, made before the first test. */
export interface Subject {
  readonly buildah: Buildah;
  readonly container: string;
  /** Paths of its files below /weft. */
  readonly paths: readonly string[];
}

/** What programs complain of that are told nothing, and how they end. */
const complaints: Readonly<Record<string, readonly [code: number, reason: RegExp]>> = {
  'dist/services/block/main.js': [1, /RPC_URL is not set/],
  'dist/services/tx/main.js': [1, /is not installed here: set CLICKHOUSE_URL/],
  'dist/services/nft/main.js': [1, /is not installed here: set CLICKHOUSE_URL/],
  'dist/services/richlist/main.js': [1, /JSON_RPC_URL is not set/],
  'dist/services/scoring-operator/main.js': [1, /SCORING_PROGRAM is not set/],
  'dist/services/scoring-operator/job.js': [78, /say what to do: score or finalize/],
};

/** Imports every program of the image; in them, importing has no effect. */
const importAll = `
import { readdirSync } from 'node:fs';
const programs = readdirSync('dist', { recursive: true }).filter((name) => name.endsWith('.js'));
for (const name of programs) await import('/weft/dist/' + name);
console.log('imported', programs.length);`;

/** Tests of what runs in a container of the image. */
export function runningSuite(open: () => Subject): void {
  it('answers over HTTP when it is started without arguments, and ends after its calls', async () => {
    const { buildah, container } = open();
    const { config } = await buildah.facts('localhost/weft');
    const { Entrypoint, Cmd } = config as { Entrypoint: string[]; Cmd: string[] };
    const [port, ops] = [await freePort(), await freePort()];
    const gateway = buildah.start(
      container,
      ['sh', '-c', 'echo "started as $$"; exec "$@"', 'sh', ...Entrypoint, ...Cmd],
      { PORT: String(port), OPS_PORT: String(ops) },
    );
    const get = async (at: number, path: string): Promise<number> => {
      const answer = await fetch(`http://127.0.0.1:${at}${path}`).catch(() => undefined);
      await answer?.arrayBuffer();
      return answer?.status ?? 0;
    };
    await eventually(async () => (await get(ops, '/healthz')) === 200, 'the gateway').catch(
      (error: Error) => {
        throw new Error(`${error.message}: ${gateway.output()}`);
      },
    );
    // Files of the image, and of a package in it.
    for (const path of ['/swagger', '/swagger/doc.json', '/swagger/swagger-ui.css', '/'])
      assert.equal(await get(port, path), 200, path);
    // Of other services it was told nothing.
    assert.equal(await get(port, '/status'), 503);
    const pid = Number(/started as (\d+)/.exec(gateway.output())?.[1]);
    const process_status = readFileSync(`/proc/${pid}/status`, 'utf8');
    assert.match(process_status, /^Uid:\t1000\t1000\t1000\t1000$/m);
    assert.match(process_status, /^Gid:\t1000\t1000\t1000\t1000$/m);
    assert.match(readFileSync(`/proc/${pid}/cmdline`, 'utf8'), /^node\0dist\/services\/gateway\/main\.js\0$/);
    process.kill(pid, 'SIGTERM');
    const { code, output } = await gateway.ended;
    assert.equal(code, 0, output);
  });

  it('has every service, each of which says what it has to be told', async () => {
    const { buildah, container, paths } = open();
    const services = paths.filter((path) => /^dist\/services\/[^/]+\/(main|job)\.js$/.test(path));
    const silent = services.filter((path) => path !== 'dist/services/gateway/main.js');
    assert.deepEqual(silent.sort(), Object.keys(complaints).sort());
    for (const [path, [code, reason]] of Object.entries(complaints)) {
      const ended = await buildah.start(container, ['node', path]).ended;
      assert.match(ended.output, reason, path);
      assert.equal(ended.code, code, ended.output);
    }
  });

  it('has the command line', async () => {
    const { buildah, container } = open();
    for (const path of ['dist/tools/main.js', 'bin/weft.js']) {
      const { code, output } = await buildah.start(container, ['node', path, 'help']).ended;
      assert.equal(code, 0, output);
      assert.match(output, /weft COMMAND \[OPTIONS\]/);
    }
  });

  it('misses no module, whichever of its programs is run', async () => {
    const { buildah, container, paths } = open();
    const programs = paths.filter((path) => /^dist\/.*\.js$/.test(path));
    const { code, output } = await buildah.start(container, ['node', '--input-type=module', '-e', importAll])
      .ended;
    assert.equal(code, 0, output);
    assert.match(output, new RegExp(`^imported ${programs.length}$`, 'm'));
    assert.ok(programs.length > 400);
  });

  it('can write nothing into its folder', async () => {
    const { buildah, container } = open();
    const script =
      'touch /weft/new; touch /weft/node_modules/new; echo >> package.json; find /weft -writable -not -type l';
    const { output } = await buildah.start(container, ['sh', '-c', script]).ended;
    assert.equal(output.match(/Permission denied/g)?.length, 3, output);
    assert.ok(!/^\/weft/m.test(output), output);
  });
}
