import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { createL1Client, type L1Client } from '../../services/scoring-operator/l1/client.js';
import type { SourceRule } from '../../services/scoring-operator/policy/policy.js';
import { readSource } from '../../services/scoring-operator/policy/source.js';
import { type SimulatedL1, startSimulatedL1 } from '../../tools/dev/l1.js';
import { type EndlessServer, startEndlessServer } from '../support/attack/hostile-l1.js';
import { l1InStage } from '../support/scoring/l1.js';

const module = { address: '0x1', name: 'vip', prefix: 'initia' };

/** A request may take so long as a whole; everything else is slack for a busy machine. Milliseconds. */
const [timeout_ms, slack_ms] = [1_000, 20_000];

for (const kind of ['drip', 'flood'] as const)
  describe(`a URL of the L1 that never ends its answers: ${kind}`, () => {
    let endless: EndlessServer;
    let good: SimulatedL1[];
    let clock: NodeJS.Timeout;
    let client: L1Client | undefined;

    before(async () => {
      endless = await startEndlessServer(kind);
      const time = Math.floor(Date.now() / 1_000) - 3_600;
      good = await Promise.all(
        [0, 1].map(() =>
          startSimulatedL1({
            module,
            state: l1InStage(5n, time - 100, 1_000_000, {
              time,
              bridges: [{ bridge_id: 9n, version: 1n, init_stage: 4n, vip_l2_score_contract: '0xabc' }],
            }),
          }),
        ),
      );
      clock = setInterval(() => {
        for (const one of good) one.advance(1);
      }, 100);
    });
    afterEach(async () => {
      await client?.close();
    });
    after(async () => {
      clearInterval(clock);
      await Promise.all([endless.close(), ...good.map((one) => one.close())]);
    });

    const open = (urls: readonly string[], agreeing: number): L1Client => {
      client = createL1Client({
        log: createLog('silent'),
        metrics: createMetrics(),
        timeout_ms,
        connections: 4,
        urls,
        module,
        chain_id: '',
        agreeing,
        max_ahead_ms: 120_000,
        standstill_ms: 10_000,
        again_ms: 300,
      });
      return client;
    };
    const soon = async <T>(work: Promise<T>): Promise<T> => {
      const began = Date.now();
      const result = await work;
      assert.ok(Date.now() - began < slack_ms, `it took ${Date.now() - began} ms`);
      return result;
    };

    it('is given up, and the others are believed', async () => {
      const own = open([endless.url, ...good.map(({ url }) => url)], 2);
      const seen = await soon(own.look());
      assert.ok(!('error' in seen), 'error' in seen ? seen.error : '');
      assert.deepEqual([seen.stage, seen.is_moving], [5n, true]);
      assert.equal((await soon(own.registration(9n)))?.init_stage, 4n);
    });

    it('alone is an error, not a silence', async () => {
      const rss = process.memoryUsage().rss;
      const own = open([endless.url], 1);
      const seen = await soon(own.look());
      assert.match('error' in seen ? seen.error : '', /no whole answer within|larger than \d+ bytes/);
      await assert.rejects(soon(own.registration(9n)), { name: 'NodeError' });
      await assert.rejects(soon(own.stageTimes(4n)), { name: 'NodeError' });
      assert.ok(process.memoryUsage().rss - rss < 300 * 1024 * 1024, 'what it sends is not kept');
    });

    it('as a source of scores is given up too', async () => {
      const rule = {
        kind: 'source',
        name: 'r',
        location: endless.url,
        is_url: true,
        folder: '',
        sha256: createHash('sha256').update('').digest('hex'),
        duplicates: 'refuse',
        max_bytes: 10_000_000,
        timeout_ms,
      } as unknown as SourceRule;
      await assert.rejects(
        soon(readSource(rule, 'init', new AbortController().signal)),
        /no whole answer within 1000 ms|larger than max_bytes/,
      );
    });
  });
