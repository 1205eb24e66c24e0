import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tools/bench/processes.js';
import { eventually } from '../support/block.js';
import { outputOf } from '../support/output.js';

describe('a service alone in its process, whose database does not answer', function () {
  this.timeout(60_000);
  for (const name of ['block', 'tx'])
    it(`is alive, says what it waits for, and ends with 0 at SIGTERM: ${name}`, async () => {
      const port = await freePort();
      const child = spawn(
        process.execPath,
        [fileURLToPath(new URL(`../../services/${name}/main.js`, import.meta.url))],
        {
          env: {
            ...process.env,
            ROLE: 'serve',
            CLICKHOUSE_URL: `http://someone:secret-word@127.0.0.1:${await freePort()}`,
            GRPC_PORT: '0',
            OPS_PORT: String(port),
          },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
      const said = outputOf(child);
      try {
        const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
        let reason = '';
        await eventually(() => said().includes('waiting for the database'), 'the first attempt');
        await eventually(async () => {
          const answer = await ask('/readyz');
          assert.equal(answer.status, 503);
          reason = await answer.text();
          return /ECONNREFUSED|does not answer/.test(reason);
        }, 'a reason');
        assert.equal((await ask('/healthz')).status, 200);
        assert.doesNotMatch(said() + reason, /secret-word/);
      } finally {
        child.kill('SIGTERM');
      }
      assert.deepEqual(await once(child, 'exit'), [0, null]);
    });
});
