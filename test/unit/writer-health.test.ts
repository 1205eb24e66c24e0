import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { NodeError } from '../../services/common/chain/endpoints.js';
import { DatabaseUnavailable } from '../../services/common/clickhouse/database.js';
import {
  AccessDenied,
  FatalError,
  messageOf,
  RpcError,
  UserError,
} from '../../services/common/runtime/errors.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { createWriterHealth, onlyInUse } from '../../services/common/writer/health.js';

const patience_ms = 120_000;

/** A health whose clock stands still until it is moved. */
function watched(patience = patience_ms) {
  const fatal: unknown[] = [];
  const metrics = createMetrics();
  let time = 0;
  const health = createWriterHealth({
    ...{ service: 'tx', metrics, patience_ms: patience },
    onFatal: (error) => fatal.push(error),
    now: () => time,
  });
  /** Fails again and again, as often as a writer tries, for so long. */
  const fails = (error: unknown, ms: number, part = 'writing blocks'): void => {
    for (const until = time + ms; time < until; time += 10_000) health.failed(part, error);
  };
  return {
    ...{ fatal, health, metrics, fails },
    pass: (ms: number): void => {
      time += ms;
    },
  };
}

const damaged = Object.assign(new Error('Empty marks file: 0, must be: 96.'), { code: '246' });

describe('the health of what writes tables', () => {
  it('is fatal after so long a time of failures that no waiting mends, and names the setting', async () => {
    const { fatal, fails, metrics } = watched();
    fails(damaged, patience_ms);
    assert.deepEqual(fatal, []);
    fails(damaged, 10_000);
    assert.match(
      messageOf(fatal[0]),
      /^tx: writing blocks has failed for 120 s, .* WRITER_PATIENCE_MS .*Empty marks/,
    );
    assert.match(
      await metrics.registry.metrics(),
      /limit_reached_total{service="tx",limit="WRITER_PATIENCE_MS"} 1/,
    );
  });

  const waited = {
    'the node': new NodeError('timeout', 'no answer'),
    'another service': new RpcError(status.UNAVAILABLE, 'it does not answer'),
    'what a person has to mend': new UserError('another chain'),
    'a database that is away': new DatabaseUnavailable('it does not answer'),
    'missing rights': new AccessDenied('no right to insert'),
    'a full disk': Object.assign(new Error('Cannot reserve 1.00 MiB, not enough space'), { code: '243' }),
    'a full disk where rows of an insert are kept': new Error('ENOSPC: no space left on device, write'),
    'a full disk without a code': new Error('write failed: errno: 28, strerror: No space left on device'),
  };
  for (const [name, error] of Object.entries(waited))
    it(`waits for ${name}, however long`, () => {
      const { fatal, fails } = watched();
      fails(error, 100 * patience_ms);
      assert.deepEqual(fatal, []);
    });

  it('begins anew after a success, after a failure of another kind, and after a time without failures', () => {
    const { fatal, fails, health, pass } = watched();
    fails(damaged, 110_000);
    health.succeeded('writing blocks');
    fails(damaged, 110_000);
    fails(new DatabaseUnavailable('it does not answer'), 10_000);
    fails(damaged, 110_000);
    pass(61_000);
    fails(damaged, 110_000);
    assert.deepEqual(fatal, []);
    fails(damaged, 20_000);
    assert.equal(fatal.length > 0, true);
  });

  it('judges each part by itself: one that writes does not hide one that fails', () => {
    const { fatal, fails, health } = watched();
    for (let round = 0; round < 14; round++) {
      fails(damaged, 10_000, 'writing internal txs');
      health.succeeded('writing blocks');
    }
    assert.match(messageOf(fatal[0]), /writing internal txs/);
  });

  it('waits for ever where it is told so', () => {
    const { fatal, fails } = watched(0);
    fails(damaged, 100 * patience_ms);
    assert.deepEqual(fatal, []);
  });

  it('gives a reason while tables cannot be written, though not for the first seconds nor for the node', () => {
    const { fails, health, pass } = watched();
    fails(new NodeError('timeout', 'no answer'), 60_000);
    assert.equal(health.reason(), '');
    health.failed('writing blocks', damaged);
    assert.equal(health.reason(), '');
    fails(damaged, 30_000);
    assert.match(health.reason(), /^writing blocks has failed for 30 s: Empty marks file/);
    health.succeeded('writing blocks');
    assert.equal(health.reason(), '');
    fails(new DatabaseUnavailable('it does not answer'), 30_000);
    assert.match(health.reason(), /it does not answer/);
    pass(61_000); // nothing has failed since, though there was nothing to write
    assert.equal(health.reason(), '');
  });

  it('passes a fatal error on at once, also of tables that are not in use yet, which fail without harm', () => {
    const { fatal, fails, health } = watched();
    const beside = onlyInUse(health, () => false);
    for (let round = 0; round < 100; round++) beside.failed('writing blocks', damaged);
    assert.equal(health.reason(), '');
    fails(new NodeError('timeout', 'no answer'), 10 * patience_ms);
    assert.deepEqual(fatal, []);
    const superseded = new FatalError('superseded');
    beside.failed('writing blocks', superseded);
    assert.deepEqual(fatal, [superseded]);
  });
});
