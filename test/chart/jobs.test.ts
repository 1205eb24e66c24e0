import assert from 'node:assert/strict';
import { loadSettings } from '../../services/common/runtime/config.js';
import { checkScoring, scoringSettings } from '../../services/scoring-operator/config.js';
import { desiredCronJob } from '../../services/scoring-operator/operator/children.js';
import { jobDefaults } from '../../services/scoring-operator/operator/job-settings.js';
import type { ScoringProgram } from '../../services/scoring-operator/operator/resource.js';
import { applyObject } from '../support/chart/apply.js';
import { matrix, type Rendered, render, valuesFile, writeValues } from '../support/chart/helm.js';
import { operatorEnv } from '../support/chart/operator-env.js';
import { controlPlane } from '../support/kubernetes/control-plane.js';
import { sampleSpec } from '../support/kubernetes/programs.js';

/** The environment of the operator that is made of some values. */
const envOf = (name: string): Record<string, string> | undefined => operatorEnv(render([valuesFile(name)]));

/** The CronJob that this operator makes. */
function cronJobOf(env: Readonly<Record<string, string>>, namespace: string): Rendered {
  const config = loadSettings(scoringSettings, env, checkScoring);
  const program = {
    metadata: { name: 'p', namespace, uid: 'u', resourceVersion: '1' },
    spec: sampleSpec,
  } as unknown as ScoringProgram;
  const made = desiredCronJob(program, 'score', '{}', false, jobDefaults(config, namespace));
  return made as unknown as Rendered;
}

const authorities = { extraCA: { secret: 'authorities', key: 'internal.pem' } };
const withoutOperator: readonly string[] = ['move', 'no-operator', 'wasm'];
const withOperator = matrix.filter((name) => !withoutOperator.includes(name));

describe('T0: what the chart tells of pods of scoring Jobs', () => {
  it('is nothing where no operator is', () => {
    for (const name of withoutOperator) assert.equal(envOf(name), undefined, name);
  });

  it('has of a Secret with authorities one key', () => {
    const values = [valuesFile('minimal'), writeValues(authorities)];
    const { volumes } = cronJobOf(operatorEnv(render(values)) ?? {}, 'a')['spec'].jobTemplate.spec.template
      .spec;
    const items = [{ key: 'internal.pem', path: 'ca.crt' }];
    assert.deepEqual(
      volumes.find(({ name }: Rendered['metadata']) => name === 'ca'),
      { name: 'ca', secret: { secretName: 'authorities', defaultMode: 0o440, items } },
    );
  });

  it('comes to what the values say, whatever signs are in it', () => {
    const { spec } = cronJobOf(envOf('jobs') ?? {}, 'a')['spec'].jobTemplate.spec.template;
    const [container] = spec.containers;
    assert.deepEqual(container.env.at(-1), { name: 'AUTHORIZATION', value: 'Bearer $(TOKEN)' });
    assert.deepEqual(Object.keys(spec.affinity), ['nodeAffinity']);
    assert.equal(spec.dnsPolicy, 'None');
    assert.equal(container.envFrom, undefined);
  });
});

describe('T1: the API server, of scoring Jobs as the chart tells of them', () => {
  const files = new Map(withOperator.map((name) => [name, [valuesFile(name)]]));
  files.set('of authorities in a Secret', [valuesFile('minimal'), writeValues(authorities)]);
  for (const [name, values] of files)
    it(`takes what the operator makes with the values ${name}, without a warning`, async () => {
      const plane = await controlPlane();
      const env = operatorEnv(render(values)) ?? {};
      const { status, body, warnings } = await applyObject(
        plane,
        cronJobOf(env, 'default'),
        'default',
        '&dryRun=All',
      );
      assert.ok(status < 300, `${status} ${JSON.stringify(body).slice(0, 2_000)}`);
      assert.deepEqual(warnings, []);
    });
});
