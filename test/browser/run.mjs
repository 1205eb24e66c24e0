// Looks at the pages for people in a real Chromium: starts `weft start` with the recorded
// rollup and reads the rendered documents. Screenshots go to the folder given as argument.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const browser = process.env.CHROMIUM ?? 'chromium';
const folder = mkdtempSync(join(tmpdir(), 'weft-browser-'));
const shots = process.argv[2] ?? join(folder, 'shots');
mkdirSync(shots, { recursive: true });

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

async function waitFor(url, accept) {
  for (let attempt = 0; attempt < 300; attempt++) {
    try {
      const answer = await (await fetch(url)).json();
      if (accept(answer)) return answer;
    } catch {
      // not up yet
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`${url} does not get there`);
}

const common = (profile) => [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--virtual-time-budget=8000',
  `--user-data-dir=${join(folder, profile)}`,
];

/** The document after its scripts have run. */
async function render(url, profile) {
  const { stdout } = await run(browser, [...common(profile), '--dump-dom', url], {
    maxBuffer: 64 * 1024 * 1024,
    timeout: 60_000,
  });
  return stdout;
}

async function shoot(url, name, size) {
  await run(
    browser,
    [...common(name), `--window-size=${size}`, `--screenshot=${join(shots, `${name}.png`)}`, url],
    { timeout: 60_000 },
  );
}

const [port, ops] = [await freePort(), await freePort()];
const program = spawn(process.execPath, ['bin/weft.js', 'start'], {
  env: {
    ...process.env,
    DATA_DIR: join(folder, 'data'),
    PORT: String(port),
    OPS_PORT: String(ops),
    BLOCK_GRPC_PORT: '0',
    TX_GRPC_PORT: '0',
    RICHLIST_GRPC_PORT: '0',
    NFT_GRPC_PORT: '0',
  },
  stdio: ['ignore', 'ignore', 'inherit'],
});
const base = `http://127.0.0.1:${port}`;

const tests = {
  'the live page shows the chain, its height and its latest txs': async () => {
    const { height } = await waitFor(`${base}/status`, (status) => status.height >= 127);
    const page = await render(`${base}/`, 'live');
    assert.match(page, /minievm-rec-1/);
    // Though the recorded blocks are old.
    assert.match(page, /<p id="state"[^>]* data-state="good">Following the chain</);
    assert.ok(
      page.includes(height.toLocaleString('en-US')) ||
        page.includes(String(height)) ||
        page.includes(String(height + 1)),
    );
    assert.match(page, /indexer\/tx\/v1\/txs\/[0-9A-Fa-f]{64}/);
    await shoot(`${base}/`, 'live-wide', '1280,900');
    await shoot(`${base}/`, 'live-phone', '390,844');
  },
  'the Swagger page lists every route': async () => {
    const page = await render(`${base}/swagger/`, 'swagger');
    const { paths } = await (await fetch(`${base}/swagger/doc.json`)).json();
    for (const path of Object.keys(paths))
      assert.ok(page.includes(`data-path="${path}"`), `${path} is not on the page`);
    await shoot(`${base}/swagger/`, 'swagger', '1280,1600');
  },
};

let [passed, failed] = [0, 0];
try {
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      passed += 1;
      console.log(`  ok ${name}`);
    } catch (error) {
      failed += 1;
      console.error(`  FAILED ${name}\n${error.stack}`);
    }
  }
} finally {
  program.kill('SIGTERM');
  const [code] = await once(program, 'exit');
  if (code !== 0) {
    failed += 1;
    console.error(`  FAILED the program ended with code ${code}`);
  }
  rmSync(folder, { recursive: true, force: true });
}
console.log(`\nbrowser: ${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
