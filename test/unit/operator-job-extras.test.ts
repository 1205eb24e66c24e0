import assert from 'node:assert/strict';
import { loadSettings } from '../../services/common/runtime/config.js';
import { checkScoring, scoringSettings } from '../../services/scoring-operator/config.js';
import { ApiError } from '../../services/scoring-operator/kubernetes/api.js';
import { environment, ownVariables } from '../../services/scoring-operator/operator/environment.js';
import { jobDefaults } from '../../services/scoring-operator/operator/job-settings.js';
import { asRefusal } from '../../services/scoring-operator/operator/reasons.js';
import type { ScoringProgram } from '../../services/scoring-operator/operator/resource.js';
import { sampleSpec } from '../support/kubernetes/programs.js';

const least = {
  KUBERNETES_OPERATOR: 'true',
  JOB_IMAGE: 'weft',
  CLICKHOUSE_URL: 'http://clickhouse:8123',
};
const load = (env: Readonly<Record<string, string>>) =>
  loadSettings(scoringSettings, { ...least, ...env }, checkScoring);
/** What the operator says of settings that it does not start with. */
function mistakes(env: Readonly<Record<string, string>>): string {
  try {
    load(env);
  } catch (error) {
    return (error as Error).message;
  }
  throw new assert.AssertionError({ message: `${JSON.stringify(env)} is taken` });
}
const env = (...names: string[]): string => JSON.stringify(names.map((name) => ({ name, value: 'x' })));
const volumes = (...names: string[]): string => JSON.stringify(names.map((name) => ({ name, emptyDir: {} })));
const mounts = (...paths: string[]): string =>
  JSON.stringify(paths.map((mountPath) => ({ name: 'more', mountPath })));

describe('further variables and volumes of scoring Jobs', () => {
  it("are taken where they are nobody else's", () => {
    const config = load({
      JOB_EXTRA_ENV: env('NODE_OPTIONS', 'TX_STUCK_SECONDS', 'NODE_EXTRA_CA_CERTS'),
      JOB_EXTRA_VOLUMES: volumes('more', 'unused'),
      JOB_EXTRA_VOLUME_MOUNTS: mounts('/more', '/etc/weft/more', '/tmp/more', '/var/run/secrets/other'),
    });
    assert.equal(config.JOB_EXTRA_ENV?.length, 3);
    assert.deepEqual(load({ JOB_EXTRA_ENV: '[]' }).JOB_EXTRA_ENV, []);
  });

  it('are refused by every name of a variable that the operator sets', () => {
    const program = { ...sampleSpec, clickhouse: { ...sampleSpec.clickhouse, database: 'a', cluster: 'b' } };
    const secrets = load({ JOB_TLS_SECRET: 'tls', JOB_CA_SECRET: 'ca' });
    const config = { ...secrets, GRPC_TLS_SERVER_NAME: 'name' };
    const set = ['key', 'mnemonicKey'].flatMap((key) => {
      const signer = { ...program.signer, secretRef: { name: 'a', [key]: 'b' }, mnemonicIndex: 1 };
      const spec = { ...program, signer } as unknown as ScoringProgram['spec'];
      return environment(spec, '{}', jobDefaults(config, 'a')).map(({ name }) => name);
    });
    assert.ok(set.includes('MNEMONIC_FILE') && set.includes('GRPC_TLS_SERVER_NAME'));
    const refused = [...new Set<string>([...set, ...ownVariables])];
    // Where the operator sets no authorities that one is free.
    const said = mistakes({ JOB_EXTRA_ENV: env(...refused, 'OTHER') });
    const named = /must not have (.*): that is the operator's/.exec(said)?.[1]?.split(', ') ?? [];
    assert.deepEqual(named.sort(), refused.filter((name) => name !== 'NODE_EXTRA_CA_CERTS').sort());
    assert.match(said, /LOG_LEVEL by JOB_LOG_LEVEL/);
    // None is refused for nothing.
    const rivals = ['PRIVATE_KEY', 'MNEMONIC', 'SIGNER_URL', 'SCORING_PROGRAM', 'DB_DSN', 'KUBECONFIG'];
    assert.deepEqual(ownVariables.filter((name) => !set.includes(name as never)).sort(), rivals.sort());
  });

  it('are refused by the names of its volumes', () => {
    for (const name of ['signer', 'token', 'temporary', 'tls', 'ca', 'policy'])
      assert.match(
        mistakes({ JOB_EXTRA_VOLUMES: volumes('more', name) }),
        new RegExp(`must not have ${name}:`),
      );
  });

  it('are refused where they would hide what it mounts', () => {
    for (const path of [
      ...['/etc/weft/signer', '/etc/weft/signer/', '/etc/weft//signer/../signer', '/etc/weft/signer/more'],
      ...['/etc/weft', '/etc', '/', '/tmp', '/var/run', '/run/secrets/kubernetes.io/serviceaccount'],
    ])
      assert.match(
        mistakes({ JOB_EXTRA_VOLUMES: volumes('more'), JOB_EXTRA_VOLUME_MOUNTS: mounts('/more', path) }),
        new RegExp(`JOB_EXTRA_VOLUME_MOUNTS .*must not hide, or lie in, what the operator mounts: ${path}$`),
        path,
      );
  });

  it('are refused where one is there twice', () => {
    assert.match(mistakes({ JOB_EXTRA_ENV: env('A', 'B', 'A', 'A') }), /must have one of each name: A$/);
    assert.match(mistakes({ JOB_EXTRA_VOLUMES: volumes('a', 'a') }), /must have one of each name: a$/);
    const twice = { JOB_EXTRA_VOLUMES: volumes('more'), JOB_EXTRA_VOLUME_MOUNTS: mounts('/a', '/a') };
    assert.match(mistakes(twice), /must have one of each mountPath: \/a$/);
    const alias = { ip: '10.0.0.1', hostnames: ['a'] };
    assert.match(mistakes({ JOB_HOST_ALIASES: JSON.stringify([alias, alias]) }), /one of each ip: 10.0.0.1$/);
  });

  it('have to fit together, and all that does not is said at once', () => {
    const said = mistakes({
      JOB_EXTRA_ENV: env('NODE_EXTRA_CA_CERTS'),
      JOB_CA_CONFIGMAP: 'authorities',
      JOB_EXTRA_VOLUMES: volumes('other'),
      JOB_EXTRA_VOLUME_MOUNTS: mounts('/a', '/b'),
      JOB_DNS_POLICY: 'None',
    });
    assert.match(said, /^the configuration has 3 mistakes/);
    assert.match(said, /JOB_EXTRA_ENV has NODE_EXTRA_CA_CERTS, and so/);
    assert.match(said, /JOB_EXTRA_VOLUME_MOUNTS mounts more: not in JOB_EXTRA_VOLUMES/);
    assert.match(said, /JOB_DNS_POLICY is None: JOB_DNS_CONFIG must have nameservers/);
  });

  it('are not said to miss what is only wrong', () => {
    const said = mistakes({
      JOB_EXTRA_VOLUMES: '[{}]',
      JOB_EXTRA_VOLUME_MOUNTS: mounts('/a'),
      JOB_DNS_POLICY: 'None',
      JOB_DNS_CONFIG: '[]',
    });
    assert.match(said, /^the configuration has 2 mistakes/);
  });

  it('are never quoted', () => {
    for (const text of [
      '[{"name":"A","value":"hunter22"',
      '[{"name":"A","value":hunter22}]',
      'hunter22',
      '[{"name":"A","value":{"a":"hunter22"}}]',
      '[{"name":"A","value":"hunter22","b":"hunter22"}]',
      '[{"name":"A","value":"hunter22"},{"name":"A","value":"hunter22"}]',
      '[{"name":"PRIVATE_KEY","value":"hunter22"}]',
      '["hunter22"]',
    ]) {
      const said = mistakes({ JOB_EXTRA_ENV: text });
      assert.match(said, /JOB_EXTRA_ENV is \(not shown\): must /);
      assert.doesNotMatch(said, /hunter/, text);
    }
    assert.doesNotMatch(mistakes({ JOB_EXTRA_VOLUMES: '[{"name":"a","csi":"hunter22"}' }), /hunter/);
  });
});

describe('a CronJob that the API server refuses', () => {
  it('is told without what variables hold', () => {
    const variables = [
      { name: 'A', value: 'hunter22' },
      { name: 'B', value: 'hunter22-and-more' },
      { name: 'C', value: '42' },
      { name: 'D', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
    ];
    const said = '422 no: "hunter22-and-more", hunter22 at [3]';
    const refusal = asRefusal(new ApiError(422, said, { cause: 'hunter22' }), variables);
    assert.equal(refusal?.message, '422 no: "(not shown)", (not shown) at [3]');
    assert.equal(refusal?.cause, undefined);
  });

  it('is told apart from an API server that is away, or busy', () => {
    for (const [status, message] of [
      [0, 'fetch failed'],
      [409, 'conflict'],
      [429, 'too many'],
      [500, 'etcdserver: request timed out'],
      [503, 'not yet'],
    ] as const)
      assert.equal(asRefusal(new ApiError(status, message)), undefined, message);
    assert.equal(asRefusal(new Error('field not declared in schema')), undefined);
    for (const [status, message] of [
      [400, 'admission webhook denied the request'],
      [403, 'exceeded quota'],
      [413, 'limit is 3145728'],
      [422, 'is invalid'],
      [500, '.spec.affinity.nodeAfinity: field not declared in schema'],
    ] as const)
      assert.equal(asRefusal(new ApiError(status, message))?.status, status);
  });
});
