import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createHashLog, hashesIn } from '../../services/tx/read/hash-log.js';

const hashOf = (n: number): string => createHash('sha256').update(String(n)).digest('hex');

describe('memory of hashes', () => {
  it('gives the highest number of a hash, and nothing for others', () => {
    const log = createHashLog(2);
    for (let n = 0; n < 1_000; n++) log.put(hashOf(n), n);
    log.put(hashOf(3), 5_000);
    log.put(hashOf(4), 1);
    log.put(hashOf(5), 2 ** 32);
    for (let n = 0; n < 1_000; n++) assert.equal(log.get(hashOf(n)), n === 3 ? 5_000 : n);
    assert.equal(log.get(hashOf(1_000)), undefined);
    log.clear();
    assert.equal(log.get(hashOf(3)), undefined);
  });

  it('forgets the oldest when it is full, and finds a number also where a later part has the hash again', () => {
    const log = createHashLog(2);
    log.put(hashOf(-1), 7_000_000);
    const count = hashesIn(2) + 10;
    for (let n = 0; n < count; n++) log.put(hashOf(n), n);
    assert.equal(log.get(hashOf(-1)), undefined);
    assert.equal(log.get(hashOf(0)), undefined);
    for (const n of [hashesIn(1), hashesIn(1) + 5, count - 1]) assert.equal(log.get(hashOf(n)), n);
    log.put(hashOf(hashesIn(1)), 9_000_000);
    assert.equal(log.get(hashOf(hashesIn(1))), 9_000_000);
  });

  it('does not look long for hashes that were made to belong in one place', () => {
    const log = createHashLog(1);
    const alike = (n: number): string => `00000000${n.toString(16).padStart(16, '0')}`.padEnd(64, '0');
    for (let n = 0; n < 10_000; n++) log.put(alike(n), n);
    assert.equal(log.get(alike(0)), 0);
    assert.equal(log.get(alike(9_999)), undefined);
    log.put(hashOf(1), 1);
    assert.equal(log.get(hashOf(1)), 1);
  });

  it('forgets a number that has a later one for which there is no place', () => {
    const log = createHashLog(3);
    const alike = (n: number): string => `00000000${n.toString(16).padStart(16, '0')}`.padEnd(64, '0');
    log.put(alike(0), 5);
    log.put(alike(1), 6);
    for (let n = 0; n < hashesIn(1); n++) log.put(hashOf(n), 10 + n);
    for (let n = 2; n < 100; n++) log.put(alike(n), 1_000_000 + n);
    log.put(alike(0), 2_000_000);
    assert.equal(log.get(alike(0)), undefined);
    assert.equal(log.get(alike(1)), 6);
  });
});
