import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { smallFirst } from '../../services/common/chain/batch.js';
import { createEndpoints } from '../../services/common/chain/endpoints.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { createMutex } from '../../services/common/util/concurrency.js';
import { serveHttp } from '../support/http-server.js';
import { endsAfterEach } from '../support/suite.js';

const endLater = endsAfterEach();

/** A node that answers as a function does. */
async function node(answer: (response: ServerResponse) => void): Promise<string> {
  const { url, close } = await serveHttp((_, response) => answer(response));
  endLater(close);
  return url;
}

const well = (response: ServerResponse): void => {
  response.end('{"ok":true}');
};

/** A byte now and then: never idle, never done. */
const drips = (response: ServerResponse): void => {
  response.write('{');
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
};

/** As many bytes as are taken. */
const floods = (response: ServerResponse): void => {
  const chunk = Buffer.alloc(64 * 1024, 32);
  const pump = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', pump);
  pump();
};

const bound = { bytes: 1024 * 1024, setting: 'NODE_ANSWER_MB' };

function endpointsOf(urls: readonly string[], timeout_ms = 400, connections = 4) {
  const metrics = createMetrics();
  const options = { log: createLog('silent'), metrics, timeout_ms, connections, bound, service: 'block' };
  const endpoints = createEndpoints('rpc', urls, options);
  endLater(() => endpoints.close());
  return { endpoints, metrics };
}

const ask = (endpoints: ReturnType<typeof endpointsOf>['endpoints'], path = '/status') =>
  endpoints.ask({ path }, (status, body) => `${status} ${body}`);

const host = (url: string | undefined): string => new URL(url ?? '').host;

describe('requests to a node', () => {
  it('end at the deadline, however often a byte comes, and count against the URL', async () => {
    const url = await node(drips);
    const { endpoints, metrics } = endpointsOf([url]);
    const began = Date.now();
    await assert.rejects(ask(endpoints), {
      reason: 'timeout',
      message: `rpc ${host(url)}/status: no whole answer within 400 ms (NODE_TIMEOUT_MS)`,
    });
    assert.ok(Date.now() - began >= 390);
    assert.match(await metrics.registry.metrics(), /weft_node_errors_total\{.*reason="timeout"\} 1/);
  });

  it('end at the first byte that is too much, which the metrics count by its setting', async () => {
    const url = await node(floods);
    const { endpoints, metrics } = endpointsOf([url], 30_000);
    await assert.rejects(ask(endpoints), {
      reason: 'too_large',
      message: `rpc ${host(url)}/status: the answer is larger than 1048576 bytes (NODE_ANSWER_MB)`,
    });
    const counted = await metrics.registry.metrics();
    assert.match(counted, /weft_node_errors_total\{.*reason="too_large"\} 1/);
    assert.match(counted, /weft_limit_reached_total\{service="block",limit="NODE_ANSWER_MB"\} 1/);
  });

  for (const [what, times, body] of [
    [
      'holds more than 1048576 JSON values, where it may have 8388608 bytes (NODE_BLOCK_MB)',
      1,
      `[${'{},'.repeat(600_000)}0]`,
    ],
    ['nests its JSON values more than 20000 deep', 0, `${'['.repeat(600_000)}${']'.repeat(600_000)}`],
  ] as const)
    it(`end before an answer is parsed that ${what}`, async () => {
      const url = await node((response) => response.end(body));
      const { endpoints, metrics } = endpointsOf([url], 30_000);
      const setting = 'NODE_BLOCK_MB';
      const asked = endpoints.ask({ path: '/block', bound: { bytes: 8 * 1024 * 1024, setting } }, () => '');
      const message = `rpc ${host(url)}/block: the answer ${what}`;
      await assert.rejects(asked, { reason: 'too_large', message });
      const counted = await metrics.limits.get();
      assert.equal(counted.values[0]?.value ?? 0, times);
    });

  for (const [name, bad] of [
    ['drips', drips],
    ['floods', floods],
  ] as const) {
    it(`are answered by the next URL where one ${name}, which is left alone for a while`, async () => {
      let asked = 0;
      const first = await node((response) => {
        asked += 1;
        bad(response);
      });
      const { endpoints } = endpointsOf([first, await node(well)]);
      for (let n = 0; n < 5; n++) assert.equal(await ask(endpoints), '200 {"ok":true}');
      assert.ok(asked <= 2, `the first URL was asked ${asked} times`);
    });
  }

  it('that wait for a connection do not use up their time', async () => {
    const url = await node((response) => setTimeout(() => well(response), 150));
    const { endpoints } = endpointsOf([url], 400, 1);
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask(endpoints)));
    assert.equal(answers.length, 5);
  });

  it('name the host that refuses to be asked', async () => {
    const { url, close } = await serveHttp(() => {});
    await close();
    const { endpoints } = endpointsOf([url]);
    const asked = endpoints.ask({ path: '', body: '[]', attempts: 1 }, () => '');
    await assert.rejects(asked, {
      reason: 'connection',
      message: `rpc ${host(url)}: Error: connect ECONNREFUSED ${host(url)}`,
    });
  });

  it('leave no listeners with the signal that they share, and cause no warning', async () => {
    const warnings: string[] = [];
    const listen = ({ name }: Error): void => {
      warnings.push(name);
    };
    process.on('warning', listen);
    const { endpoints } = endpointsOf([await node(well)], 5_000, 30);
    const { signal } = new AbortController();
    const request = { path: '/status', signal };
    await Promise.all(Array.from({ length: 30 }, () => endpoints.ask(request, () => '')));
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off('warning', listen);
    assert.deepEqual(warnings, []);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  it('for a small answer are no failure where it is large: that is asked for while no other large one is', async () => {
    let [under, most] = [0, 0];
    const url = await node((response) => response.end('x'.repeat(500_000)));
    const { endpoints, metrics } = endpointsOf([url]);
    const alone = createMutex();
    const large = Array.from({ length: 4 }, () =>
      smallFirst({ bytes: 1000 }, alone, async (small) => {
        if (small === undefined) most = Math.max(most, ++under);
        const answer = await endpoints.ask({ path: '', bound: small }, (_, body) => body.length);
        if (small === undefined) under -= 1;
        return answer;
      }),
    );
    assert.deepEqual(await Promise.all(large), [500_000, 500_000, 500_000, 500_000]);
    assert.equal(most, 1);
    assert.doesNotMatch(await metrics.registry.metrics(), /too_large/);
  });
});
