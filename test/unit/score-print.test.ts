import assert from 'node:assert/strict';
import type { Decision } from '../../services/scoring-operator/machine/types.js';
import { progressBar, stepPrinter } from '../../tools/score/print.js';

describe('what weft score prints', () => {
  let said: string[];
  const screen = { write: (text: string) => said.push(text) };
  beforeEach(() => {
    said = [];
  });

  it('is a bar as full as the part of the scores that the contract has', () => {
    const bar = progressBar(screen);
    bar.show(5n, 0, 10);
    bar.show(5n, 5, 10);
    bar.show(5n, 10, 10);
    assert.deepEqual(
      said.map((line) => line.split('#').length - 1),
      [0, 15, 30],
    );
  });
  it('is no bar where there is nothing to be done', () => {
    progressBar(screen).show(5n, 0, 0);
    assert.deepEqual(said, ['stage 5 has no scores\n']);
  });
  it('is said once while it stays the same', () => {
    const print = stepPrinter(screen);
    const nothing: Decision = { kind: 'nothing', reason: 'StageRunning', message: 'stage 6 runs' };
    const wait: Decision = { kind: 'wait', reason: 'MarginNotOver', message: 'not yet' };
    for (const decision of [nothing, nothing, nothing, wait, wait, nothing])
      print({ decision, error: undefined });
    assert.deepEqual(said, [
      'nothing to do: stage 6 runs (StageRunning)\n',
      'waiting: not yet (MarginNotOver)\n',
      'nothing to do: stage 6 runs (StageRunning)\n',
    ]);
  });
});
