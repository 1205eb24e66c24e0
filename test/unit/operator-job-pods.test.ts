import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { loadSettings } from '../../services/common/runtime/config.js';
import { desiredCronJob } from '../../services/scoring-operator/operator/children.js';
import { operatorSettings } from '../../services/scoring-operator/operator/config.js';
import { jobDefaults } from '../../services/scoring-operator/operator/job-settings.js';
import type { ScoringProgram } from '../../services/scoring-operator/operator/resource.js';
import { sampleSpec } from '../support/kubernetes/programs.js';

interface CronJob {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  readonly spec: { readonly jobTemplate: { readonly spec: { readonly template: Template } } };
}

interface Template {
  readonly metadata: { readonly labels: object; readonly annotations?: object };
  readonly spec: Readonly<Record<string, unknown>> & {
    readonly containers: readonly Readonly<Record<string, unknown>>[];
  };
}

/** The CronJob of a program whose operator has these settings. */
function made(env: Readonly<Record<string, string>>, podTemplate?: object): CronJob {
  const config = {
    ...loadSettings(operatorSettings, { JOB_IMAGE: 'weft', ...env }),
    GRPC_TLS_SERVER_NAME: '',
    MIGRATIONS: 'check' as const,
  };
  const program = {
    metadata: { name: 'p', namespace: 'a', uid: 'u', resourceVersion: '1' },
    spec: { ...sampleSpec, ...(podTemplate === undefined ? {} : { podTemplate }) },
  } as unknown as ScoringProgram;
  return desiredCronJob(program, 'score', '{}', false, jobDefaults(config, 'a')) as unknown as CronJob;
}
const template = (env: Readonly<Record<string, string>>, podTemplate?: object): Template =>
  made(env, podTemplate).spec.jobTemplate.spec.template;

const restricted = {
  runAsNonRoot: true,
  runAsUser: 1000,
  runAsGroup: 1000,
  fsGroup: 1000,
  seccompProfile: { type: 'RuntimeDefault' },
};
const told = {
  JOB_RESOURCES: '{"requests":{"cpu":"100m"},"limits":{"memory":"2Gi","cpu":null}}',
  JOB_NODE_SELECTOR: '{"pool":"scoring"}',
  JOB_TOLERATIONS: '[{"key":"dedicated","operator":"Exists"}]',
  JOB_AFFINITY: '{"podAntiAffinity":{"a":[1]},"nodeAffinity":null}',
  JOB_PRIORITY_CLASS: 'high',
  JOB_RUNTIME_CLASS: 'gvisor',
  JOB_SCHEDULER: 'volcano',
  JOB_DNS_POLICY: 'none',
  JOB_DNS_CONFIG: '{"nameservers":["10.0.0.53"],"options":[{"name":"ndots","value":"2"}]}',
  JOB_HOST_ALIASES: '[{"ip":"10.0.0.1","hostnames":["node"]},{"ip":"fd00::1","hostnames":["node-6"]}]',
  JOB_EXTRA_ENV:
    '[{"name":"NODE_OPTIONS","value":"--max-old-space-size=512"},{"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}]',
  JOB_EXTRA_ENV_FROM: '[{"configMapRef":{"name":"proxies","optional":true}}]',
  JOB_EXTRA_VOLUMES: '[{"name":"store","csi":{"driver":"secrets-store.csi.k8s.io","readOnly":true}}]',
  JOB_EXTRA_VOLUME_MOUNTS:
    '[{"name":"store","mountPath":"/mnt/store"},{"name":"store","mountPath":"/tmp/store"}]',
  JOB_IMAGE_PULL_SECRETS: 'one, two',
  JOB_IMAGE_PULL_POLICY: 'always',
  JOB_POD_LABELS: '{"team":"rollups","example.org/tier":"scoring"}',
  JOB_POD_ANNOTATIONS: '{"sidecar.istio.io/inject":"false"}',
};

describe('pods of scoring Jobs', () => {
  it('meet the restricted standard, and have nothing else, where nobody says anything', () => {
    const { metadata, spec } = template({});
    const [container] = spec.containers;
    assert.deepEqual(spec['securityContext'], restricted);
    assert.deepEqual(container?.['securityContext'], {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const placement = ['nodeSelector', 'tolerations', 'affinity', 'priorityClassName', 'runtimeClassName'];
    const others = ['schedulerName', 'dnsPolicy', 'dnsConfig', 'hostAliases', 'imagePullSecrets'];
    for (const name of [...placement, ...others]) assert.equal(Object.hasOwn(spec, name), false, name);
    for (const name of ['resources', 'imagePullPolicy', 'envFrom'])
      assert.equal(Object.hasOwn(container as object, name), false, name);
    assert.equal(metadata.annotations, undefined);
  });

  it('make tables only where the operator does', () => {
    const variables = template({}).spec.containers.flatMap(({ env }) => env as readonly object[]);
    assert.ok(variables.some((one) => isDeepStrictEqual(one, { name: 'MIGRATIONS', value: 'check' })));
  });

  it('have what the operator was told', () => {
    const { metadata, spec } = template(told);
    const [container] = spec.containers;
    // Null takes away.
    assert.deepEqual(container?.['resources'], { requests: { cpu: '100m' }, limits: { memory: '2Gi' } });
    assert.equal(container?.['imagePullPolicy'], 'Always');
    assert.deepEqual(spec['nodeSelector'], { pool: 'scoring' });
    assert.deepEqual(spec['tolerations'], [{ key: 'dedicated', operator: 'Exists' }]);
    assert.deepEqual(spec['affinity'], { podAntiAffinity: { a: [1] } });
    assert.equal(spec['priorityClassName'], 'high');
    assert.equal(spec['runtimeClassName'], 'gvisor');
    assert.equal(spec['schedulerName'], 'volcano');
    assert.equal(spec['dnsPolicy'], 'None');
    assert.deepEqual(spec['dnsConfig'], JSON.parse(told.JOB_DNS_CONFIG));
    assert.deepEqual(spec['hostAliases'], JSON.parse(told.JOB_HOST_ALIASES));
    assert.deepEqual(spec['imagePullSecrets'], [{ name: 'one' }, { name: 'two' }]);
    assert.deepEqual(metadata.annotations, { 'sidecar.istio.io/inject': 'false' });
    assert.deepEqual(metadata.labels, {
      team: 'rollups',
      'example.org/tier': 'scoring',
      'app.kubernetes.io/managed-by': 'scoring-operator',
      'vip.weft.dev/program': 'p',
      'vip.weft.dev/phase': 'score',
    });
  });

  it('have further variables and volumes after those that the operator sets', () => {
    const [plain, more] = [template({}), template(told)].map(({ spec }) => ({
      container: spec.containers[0] as Readonly<Record<string, readonly { readonly name: string }[]>>,
      volumes: spec['volumes'] as readonly object[],
    }));
    const added = (field: 'env' | 'volumeMounts', setting: string): unknown[] => [
      ...(plain?.container[field] ?? []),
      ...JSON.parse(setting),
    ];
    assert.deepEqual(more?.container['env'], added('env', told.JOB_EXTRA_ENV));
    assert.deepEqual(more?.container['envFrom'], JSON.parse(told.JOB_EXTRA_ENV_FROM));
    assert.deepEqual(more?.container['volumeMounts'], added('volumeMounts', told.JOB_EXTRA_VOLUME_MOUNTS));
    assert.deepEqual(more?.volumes, [...(plain?.volumes ?? []), ...JSON.parse(told.JOB_EXTRA_VOLUMES)]);
  });

  it('have what the program says in place of it', () => {
    const chosen = {
      resources: { limits: { memory: '8Gi' } },
      nodeSelector: { disk: 'ssd' },
      tolerations: [],
      priorityClassName: 'low',
      runtimeClassName: 'kata',
      schedulerName: 'other',
    };
    const { spec } = template(told, chosen);
    assert.deepEqual(spec.containers[0]?.['resources'], chosen.resources);
    const { resources: _, ...ofPod } = chosen;
    for (const [name, value] of Object.entries(ofPod)) assert.deepEqual(spec[name], value, name);
    // What it cannot say stays.
    assert.deepEqual(spec['affinity'], { podAntiAffinity: { a: [1] } });
    assert.equal((spec['imagePullSecrets'] as object[]).length, 2);
  });

  it('leave the Secrets for another image to its ServiceAccount', () => {
    const { spec } = template(told, { image: 'registry.example/other:1', serviceAccountName: 'own' });
    assert.equal(Object.hasOwn(spec, 'imagePullSecrets'), false);
  });

  it('get certificates of authorities, and nothing else of what holds them', () => {
    const items = [{ key: 'authorities.pem', path: 'ca.crt' }];
    for (const [name, source] of [
      ['JOB_CA_SECRET', { secret: { secretName: 'authorities', defaultMode: 0o440, items } }],
      ['JOB_CA_CONFIGMAP', { configMap: { name: 'authorities', defaultMode: 0o444, items } }],
    ] as const) {
      const { spec } = template({ [name]: 'authorities', JOB_CA_KEY: 'authorities.pem' });
      const volumes = spec['volumes'] as readonly { readonly name: string }[];
      assert.deepEqual(
        volumes.filter((volume) => volume.name === 'ca'),
        [{ name: 'ca', ...source }],
      );
      const { env, volumeMounts } = spec.containers[0] as Readonly<Record<string, readonly object[]>>;
      const has = (parts: readonly object[] | undefined, one: object): boolean =>
        parts?.some((part) => isDeepStrictEqual(part, one)) ?? false;
      assert.ok(has(env, { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/weft/ca/ca.crt' }));
      assert.ok(has(volumeMounts, { name: 'ca', mountPath: '/etc/weft/ca', readOnly: true }));
    }
  });

  it('leave user and groups to the cluster', () => {
    const ofPod = '{"runAsNonRoot":true,"runAsUser":null,"fsGroup":null}';
    const { spec } = template({ JOB_POD_SECURITY_CONTEXT: ofPod, JOB_SECURITY_CONTEXT: '{}' });
    assert.deepEqual(spec['securityContext'], { runAsNonRoot: true });
    assert.deepEqual(spec.containers[0]?.['securityContext'], {});
  });

  it('make another CronJob of another label, so that the change is not taken for drift', () => {
    const settings = [{}, { JOB_POD_LABELS: '{"a":"b"}' }, { JOB_POD_ANNOTATIONS: '{"a":"b"}' }];
    const hashOf = (env: object) => made({ ...env }).metadata.annotations['vip.weft.dev/template-hash'];
    assert.equal(new Set(settings.map(hashOf)).size, 3);
  });

  it('are told wrongly: all mistakes are named at once, with what would be right', () => {
    const wrong: Readonly<Record<string, readonly [string, RegExp]>> = {
      JOB_RESOURCES: [
        '{"request":{},"limits":{"memory":"1GB"}}',
        /must be requests and limits: .*additional.*pattern/,
      ],
      JOB_POD_SECURITY_CONTEXT: ['{"runAsUsr":1}', /must NOT have additional properties/],
      JOB_SECURITY_CONTEXT: ['[]', /must be object/],
      JOB_POD_LABELS: ['{"vip.weft.dev/program":"x"}', /the operator sets that itself/],
      JOB_POD_ANNOTATIONS: ['{"a b":"c"}', /property name must be valid/],
      JOB_NODE_SELECTOR: ['{"a":1}', /must be string/],
      JOB_TOLERATIONS: ['{', /as JSON/],
      JOB_PRIORITY_CLASS: ['High', /lower-case/],
      JOB_AFFINITY: ['{"nodeAffinty":{}}', /must be an affinity: .*additional.* such as nodeAffinty/],
      JOB_RUNTIME_CLASS: ['g visor', /lower-case/],
      JOB_SCHEDULER: ['-', /lower-case/],
      JOB_DNS_POLICY: ['Cluster', /must be one of ClusterFirst, ClusterFirstWithHostNet, Default, None/],
      JOB_DNS_CONFIG: ['{"nameserver":["10.0.0.53"]}', /additional.* such as nameserver/],
      JOB_HOST_ALIASES: ['[{"ip":"node","hostnames":["a"]}]', /addresses, which these are not: node/],
      JOB_EXTRA_ENV: ['[{"name":"A","valeu":"b"}]', /\/0 must NOT have additional properties such as valeu/],
      JOB_EXTRA_ENV_FROM: ['[{"configMapRef":{}}]', /required property 'name'/],
      JOB_EXTRA_VOLUMES: ['[{"emptyDir":{}}]', /required property 'name'/],
      JOB_EXTRA_VOLUME_MOUNTS: ['[{"name":"a","mountPath":"b"}]', /begin with \/ .*: b/],
      JOB_IMAGE_PULL_POLICY: ['Sometimes', /must be one of/],
      JOB_IMAGE_PULL_SECRETS: ['a,B', /lower-case/],
    };
    const env = Object.fromEntries(Object.entries(wrong).map(([name, [text]]) => [name, text]));
    assert.throws(
      () => loadSettings(operatorSettings, env),
      ({ message }: Error) => {
        const lines = message.split('\n');
        for (const [name, [, what]] of Object.entries(wrong)) {
          const line = lines.find((one) => one.includes(`${name} is`));
          assert.match(line ?? '', what, message);
        }
        return lines.length === 1 + Object.keys(wrong).length;
      },
    );
  });
});
