import assert from 'node:assert/strict';
import { loadSettings } from '../../services/common/runtime/config.js';
import { checkScoring, scoringSettings } from '../../services/scoring-operator/config.js';
import { helmAside, objectsOf, templateArgs, valuesFile, writeValues } from '../support/chart/helm.js';
import { triedOfJobs } from '../support/chart/job-values.js';
import { operatorEnv } from '../support/chart/operator-env.js';
import { startsWith } from '../support/chart/starts.js';
import { forEach } from '../support/few-at-a-time.js';

const load = (env: Readonly<Record<string, string>>) => loadSettings(scoringSettings, env, checkScoring);

/** What an operator has to be told. */
const least = { KUBERNETES_OPERATOR: 'true', JOB_IMAGE: 'weft', CLICKHOUSE_URL: 'http://clickhouse:8123' };

/** What helm says of values: what it refuses them for, or what the operator is told then. */
async function tell(values: unknown): Promise<{ refusal: string; env: Record<string, string> }> {
  const { status, stdout, stderr } = await helmAside(
    templateArgs([valuesFile('minimal'), writeValues(values)]),
  );
  if (status !== 0) return { refusal: stderr, env: {} };
  const env = operatorEnv(objectsOf(stdout));
  assert.ok(env !== undefined);
  return { refusal: '', env };
}

/** Every text and every name in a value: one of them a refusal has to tell. */
function wordsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(wordsOf);
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...wordsOf(inner)]);
}

/** Whether a refusal tells what is wrong: by the value, or by what would be right. */
function isTold(refusal: string, value: unknown): boolean {
  if (/missing property '|must be one of|got 25[0-9], want |got 6[0-9], want /.test(refusal)) return true;
  return wordsOf(value).some((word) => {
    const escaped = JSON.stringify(word)
      .slice(1, -1)
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return new RegExp(`[ '/]${escaped}[ ',:]`).test(refusal);
  });
}

describe('T0: values of pods of scoring Jobs', () => {
  for (const { setting, name, values, beside = {}, settings = {} } of triedOfJobs)
    it(`are refused of ${name} where the operator would not start${Object.keys(beside).length > 0 ? ' beside others' : ''}, and nowhere else`, async () => {
      await forEach(values, async (value) => {
        const shown = JSON.stringify(value);
        const { refusal, env } = await tell({ scoringOperator: { jobs: { ...beside, [name]: value } } });
        const told = { ...least, ...settings, [setting]: typeof value === 'string' ? value : shown };
        const isTaken = startsWith(scoringSettings, told, checkScoring);
        assert.equal(refusal === '', isTaken, `${shown}: ${refusal || 'helm takes it'}`);
        if (isTaken) {
          load(env);
          return;
        }
        assert.match(refusal, new RegExp(`scoringOperator[./]jobs|/${name}`), shown);
        assert.ok(isTold(refusal, value), `${shown}: ${refusal}`);
      });
    });

  it('come to what the operator starts with when they are of all objects or all pods', async () => {
    const own = {
      'app.kubernetes.io/managed-by': 'a',
      'vip.weft.dev/program': 'a',
      'vip.weft.dev/phase': 'a',
    };
    for (const values of [
      { commonLabels: { ...own, team: 'rollups' } },
      { defaults: { podLabels: { ...own, team: 'rollups' } } },
      {
        commonLabels: own,
        defaults: { podLabels: { team: 'other' } },
        scoringOperator: { jobs: { podLabels: { team: 'rollups' } } },
      },
    ]) {
      const { refusal, env } = await tell(values);
      assert.equal(refusal, '');
      assert.deepEqual(load(env).JOB_POD_LABELS, { team: 'rollups' });
    }
    // Where nothing else is left there is no label.
    assert.equal(load((await tell({ commonLabels: own })).env).JOB_POD_LABELS, undefined);
    const { env } = await tell({ commonAnnotations: { 'Example.org/Owner': 'a' } });
    assert.deepEqual(load(env).JOB_POD_ANNOTATIONS, { 'Example.org/Owner': 'a' });
  });

  it('are refused of all objects and all pods, too', async () => {
    const volumes = [{ name: 'a', emptyDir: {} }];
    for (const [values, told] of [
      [{ commonLabels: { team: 'a b' } }, /\/commonLabels\/team': 'a b'/],
      [{ commonAnnotations: { 'a b': 'c' } }, /'a b'/],
      [{ defaults: { podLabels: { team: 'a b' } } }, /\/defaults\/podLabels\/team': 'a b'/],
      [{ defaults: { dnsPolicy: 'None' } }, /defaults\.dnsPolicy is None/],
      [
        {
          defaults: { extraVolumes: volumes, extraVolumeMounts: [{ name: 'a', mountPath: '/run/secrets' }] },
        },
        /defaults\.extraVolumeMounts has \/run\/secrets, where the operator mounts \/var\/run\/secrets/,
      ],
      [{ image: { pullSecrets: ['a', 'B c'] } }, /'B c'/],
      [{ global: { imagePullSecrets: [{ name: 'a,b' }] } }, /'a,b'/],
      [{ scoringOperator: { settings: { JOB_LOG_LEVEL: 'verbose' } } }, /JOB_LOG_LEVEL/],
    ] as const)
      assert.match((await tell(values)).refusal, told, JSON.stringify(values));
  });

  it('log as the operator does, unless they are told otherwise', async () => {
    for (const [values, level] of [
      [{}, 'info'],
      [{ defaults: { logLevel: 'warn' } }, 'warn'],
      [{ defaults: { logLevel: 'warn' }, scoringOperator: { logLevel: 'debug' } }, 'debug'],
      [{ scoringOperator: { logLevel: 'debug', settings: { JOB_LOG_LEVEL: 'trace' } } }, 'trace'],
    ] as const)
      assert.equal(load((await tell(values)).env).JOB_LOG_LEVEL, level);
    const { refusal } = await tell({ defaults: { extraEnv: [{ name: 'LOG_LEVEL', value: 'debug' }] } });
    assert.match(
      refusal,
      /defaults\.extraEnv has LOG_LEVEL, .*: set scoringOperator\.logLevel, or scoringOperator\.settings\.JOB_LOG_LEVEL/,
    );
  });
});
