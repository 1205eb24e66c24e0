import assert from 'node:assert/strict';
import { createBodyLog } from '../../services/tx/read/body-log.js';
import { mulberry32 } from '../../tools/replay/faults.js';

const kib = 1024;
/** As createBodyLog cuts its memory. */
const segmentsOf = (maxBytes: number) => ({ size: maxBytes / 32, most: 32 });

describe('memory of bodies', () => {
  it('gives back what was put, whatever the letters', () => {
    const log = createBodyLog(64 * kib);
    const bodies = ['', '{}', 'ü€\u{1F600}\0', '\ud800', 'x'.repeat(2_000)];
    for (const [key, body] of bodies.entries()) log.put(key, body);
    log.put(100, Buffer.from([0, 255, 7]));
    for (const [key, body] of bodies.entries()) assert.deepEqual(log.get(key), Buffer.from(body));
    assert.deepEqual(log.get(100), Buffer.from([0, 255, 7]));
    assert.equal(log.get(5), undefined);
  });

  it('never gives anything but the last body of a key, and never takes more than its memory', () => {
    const maxBytes = 32 * kib;
    const log = createBodyLog(maxBytes);
    const random = mulberry32(1);
    const last = new Map<number, string>();
    let [hits, misses] = [0, 0];
    for (let i = 0; i < 50_000; i++) {
      // numbers beyond 32 bits too
      const key = Math.floor(random() ** 3 * 200) * 30_000_000_001;
      if (random() < 0.3) {
        const body = `${i}/`.padEnd(random() * 1_200, 'ab€');
        log.put(key, body);
        last.set(key, body);
      } else {
        const found = log.get(key);
        if (found === undefined) misses += 1;
        else {
          hits += 1;
          assert.equal(found.toString(), last.get(key));
        }
      }
      assert.ok(log.size <= maxBytes);
      if (i % 20_000 === 19_999) {
        log.clear();
        last.clear();
        assert.equal(log.size, 0);
      }
    }
    assert.ok(hits > 1_000 && misses > 1_000, `${hits} hits, ${misses} misses`);
  });

  it('keeps the newest, and what is wanted again and again', () => {
    const maxBytes = 320 * kib;
    const { size, most } = segmentsOf(maxBytes);
    const log = createBodyLog(maxBytes);
    const body = 'b'.repeat(size / 2 - 4);
    log.put(0, 'wanted');
    const count = 20 * most;
    for (let key = 1; key <= count; key++) {
      log.put(key, body);
      assert.equal(log.get(0)?.toString(), 'wanted', `after ${key} others`);
    }
    for (let key = count - most; key <= count; key++) assert.ok(log.get(key), `${key} of ${count}`);
    assert.equal(log.get(1), undefined);
  });

  it('leaves a body that was given as it is, though its place is given to others', () => {
    const log = createBodyLog(32 * kib);
    log.put(1, 'the first body');
    const body = log.get(1);
    for (let key = 2; key < 1_000; key++) log.put(key, 'z'.repeat(500));
    assert.equal(log.get(1), undefined);
    assert.equal(body?.toString(), 'the first body');
  });

  it('does not keep what is too large, nor what such a body replaces', () => {
    const log = createBodyLog(32 * kib);
    log.put(1, 'small');
    log.put(2, 'x'.repeat(kib - 4));
    log.put(1, 'x'.repeat(kib - 3));
    assert.equal(log.get(1), undefined);
    assert.equal(log.get(2)?.length, kib - 4);
  });
});
