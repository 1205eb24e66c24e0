import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { chart, helm, matrix, program, valuesFile } from '../support/chart/helm.js';

describe('T0: the chart, linted', () => {
  for (const name of matrix)
    it(`has no fault with the values ${name}`, () => {
      const { status, stdout, stderr } = helm(['lint', '--strict', chart, '--values', valuesFile(name)]);
      assert.equal(status, 0, stdout + stderr);
    });

  it('says all that is missing at once', () => {
    const { status, stderr } = helm(['template', 'weft', chart]);
    assert.notEqual(status, 0);
    for (const missing of ['node.rpc', 'node.rest', 'node.jsonRpc', 'chain.id', 'clickhouse.url'])
      assert.match(stderr, new RegExp(`- ${missing} is not set`));
  });
});

describe('T0: suites of the templates', () => {
  for (const file of readdirSync(join(chart, 'tests')).filter((name) => name.endsWith('_test.yaml')))
    it(file, () => {
      const { status, stdout, stderr } = spawnSync(
        program('HELM_UNITTEST'),
        ['--strict', '--file', `tests/${file}`, chart],
        { encoding: 'utf8' },
      );
      assert.equal(status, 0, stdout + stderr);
      assert.match(stdout, /Tests:\s+[1-9]\d* passed/, 'a suite without tests');
    });
});
