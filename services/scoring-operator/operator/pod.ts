import { environment, type OwnVolume, paths } from './environment.js';
import type { JobDefaults } from './job-settings.js';
import type { Phase, ScoringProgram, Spec } from './resource.js';

/** Longer than a tx is waited for: one that is under way is settled, or written down as sent. */
export const grace_s = 120;

type Part = Readonly<Record<string, unknown>>;

/** A field that is only there with a value: empty text is none. */
const optional = (name: string, value: unknown): Part =>
  value === undefined || value === '' ? {} : { [name]: value };

/**
 * The pod of a Job of a program.
 *
 * @param program_text the program as JSON, which it runs.
 */
export function podSpec(
  { spec }: ScoringProgram,
  phase: Phase,
  program_text: string,
  defaults: JobDefaults,
): Part {
  const { podTemplate: chosen = {} } = spec;
  const { pods } = defaults;
  const secrets = pods.JOB_IMAGE_PULL_SECRETS.map((name) => ({ name }));
  // Those of the default image; for another one the ServiceAccount has to know.
  const hasSecrets = secrets.length > 0 && chosen.image === undefined;
  return {
    restartPolicy: 'Never',
    serviceAccountName: chosen.serviceAccountName ?? defaults.serviceAccountName,
    // The token is mounted below, for as long as a Job needs it.
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: grace_s,
    ...optional('imagePullSecrets', hasSecrets ? secrets : undefined),
    ...optional('priorityClassName', chosen.priorityClassName ?? pods.JOB_PRIORITY_CLASS),
    ...optional('runtimeClassName', chosen.runtimeClassName ?? pods.JOB_RUNTIME_CLASS),
    ...optional('schedulerName', chosen.schedulerName ?? pods.JOB_SCHEDULER),
    ...optional('nodeSelector', chosen.nodeSelector ?? pods.JOB_NODE_SELECTOR),
    ...optional('tolerations', chosen.tolerations ?? pods.JOB_TOLERATIONS),
    ...optional('affinity', pods.JOB_AFFINITY),
    ...optional('dnsPolicy', pods.JOB_DNS_POLICY),
    ...optional('dnsConfig', pods.JOB_DNS_CONFIG),
    ...optional('hostAliases', pods.JOB_HOST_ALIASES),
    ...optional('securityContext', pods.JOB_POD_SECURITY_CONTEXT),
    containers: [
      {
        name: 'job',
        image: chosen.image ?? defaults.image,
        ...optional('imagePullPolicy', pods.JOB_IMAGE_PULL_POLICY),
        args: ['dist/services/scoring-operator/job.js', phase],
        env: [...environment(spec, program_text, defaults), ...(pods.JOB_EXTRA_ENV ?? [])],
        ...optional('envFrom', pods.JOB_EXTRA_ENV_FROM),
        ...optional('resources', chosen.resources ?? pods.JOB_RESOURCES),
        ...optional('securityContext', pods.JOB_SECURITY_CONTEXT),
        volumeMounts: [...mounts(spec, defaults), ...(pods.JOB_EXTRA_VOLUME_MOUNTS ?? [])],
      },
    ],
    volumes: [...volumes(spec, defaults), ...(pods.JOB_EXTRA_VOLUMES ?? [])],
  };
}

function mounts({ policy }: Spec, { tls, ca }: JobDefaults): Part[] {
  const mount = (name: OwnVolume, readOnly = true): Part => ({ name, mountPath: paths[name], readOnly });
  return [
    mount('signer'),
    mount('token'),
    mount('temporary', false),
    ...(tls === undefined ? [] : [mount('tls')]),
    ...(ca === undefined ? [] : [mount('ca')]),
    ...(policy.configMapRef === undefined ? [] : [mount('policy')]),
  ];
}

function volumes({ signer: { secretRef }, policy }: Spec, { tls, ca }: JobDefaults): Part[] {
  const volume = (name: OwnVolume, source: Part): Part => ({ name, ...source });
  const key = secretRef.mnemonicKey ?? secretRef.key ?? 'privateKey';
  const secret = (secretName: string, more: Part = {}): Part => ({
    secret: { secretName, defaultMode: 0o440, ...more },
  });
  return [
    // No other key of the Secret comes into the pod.
    volume('signer', secret(secretRef.name, { items: [{ key, path: 'key' }] })),
    volume('temporary', { emptyDir: {} }),
    ...(ca === undefined ? [] : [volume('ca', ca.volume)]),
    ...(tls === undefined ? [] : [volume('tls', secret(tls.secretName))]),
    volume('token', {
      projected: {
        defaultMode: 0o440,
        sources: [
          { serviceAccountToken: { path: 'token', expirationSeconds: 3_600 } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        ],
      },
    }),
    ...(policy.configMapRef === undefined
      ? []
      : [volume('policy', { configMap: { name: policy.configMapRef.name, defaultMode: 0o444 } })]),
  ];
}
