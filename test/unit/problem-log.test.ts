import assert from 'node:assert/strict';
import { createProblemLog, type Log } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';

describe('what could not be read of blocks', () => {
  it('is counted every time and logged once for each contract and reason', async () => {
    const logged: unknown[] = [];
    const log = { warn: (about: object) => logged.push(about) } as unknown as Log;
    const metrics = createMetrics();
    const report = createProblemLog({ service: 'nft', kind: 'decode', message: 'odd', log, metrics });
    for (let height = 1; height <= 50; height++)
      report(height, [
        { source: '0xaa', reason: 'no owner' },
        { source: '0xbb', reason: 'no owner' },
        { source: '0xbb', reason: height < 25 ? 'odd topics' : 'no owner' },
      ]);
    assert.deepEqual(logged, [
      { height: 1, source: '0xaa', reason: 'no owner' },
      { height: 1, source: '0xbb', reason: 'no owner' },
      { height: 1, source: '0xbb', reason: 'odd topics' },
    ]);
    const { values } = await metrics.problems.get();
    assert.equal(values.find(({ labels }) => labels.service === 'nft')?.value, 150);
  });
});
