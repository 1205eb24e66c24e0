import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { staleFiles } from '../../tools/chart/generate.js';
import { crdPath } from '../../tools/chart/program-schema.js';
import { chart, program, render, valuesFile } from '../support/chart/helm.js';

const shipped = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

describe('T0: what of the chart is generated', () => {
  it('is what the code says now', () => {
    assert.deepEqual(staleFiles(), [], 'run node dist/tools/chart/generate.js');
  });

  it('has a README that is current', () => {
    const { status, stdout, stderr } = spawnSync(
      program('HELM_DOCS'),
      ['--chart-search-root=.', '--sort-values-order=file', '--dry-run', '--log-level=error'],
      { cwd: chart, encoding: 'utf8' },
    );
    assert.equal(status, 0, stderr);
    assert.equal(stdout.trim(), readFileSync(join(chart, 'README.md'), 'utf8').trim(), 'run helm-docs');
  });

  it('installs the custom resource as it is', () => {
    const [rendered] = render([valuesFile('minimal')], ['--show-only', 'templates/crd.yaml']);
    const own = parse(shipped(crdPath));
    assert.deepEqual(rendered?.['spec'], own.spec);
    assert.equal(rendered?.metadata.name, own.metadata.name);
    assert.equal(rendered?.metadata.annotations?.['helm.sh/resource-policy'], 'keep');
  });

  it('gives the operator and its Jobs the rights that they have, and no others', () => {
    const roles = render([valuesFile('minimal')], ['--show-only', 'templates/rbac.yaml']);
    for (const name of ['operator', 'leader', 'job']) {
      const own = parse(shipped(`services/scoring-operator/operator/rbac/${name}.yaml`));
      const role = roles.find(
        ({ kind, metadata }) => kind === 'Role' && metadata.name === `weft-scoring-${name}`,
      );
      assert.deepEqual(role?.['rules'], own.rules);
    }
    assert.equal(roles.filter(({ kind }) => kind === 'ClusterRole').length, 3);
  });

  it('has the version of the project', () => {
    const { version } = JSON.parse(shipped('package.json'));
    const { appVersion } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'));
    assert.equal(appVersion, version);
  });
});
