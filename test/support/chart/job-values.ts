/** Values of `scoringOperator.jobs` that people could give, with the setting of the operator that they come to. */
export interface Tried {
  readonly setting: string;
  /** Its name in the values. */
  readonly name: string;
  readonly values: readonly unknown[];
  /** What else of the values, and of the settings, has to be there. */
  readonly beside?: Readonly<Record<string, unknown>>;
  readonly settings?: Readonly<Record<string, string>>;
}

const alias = (...ips: string[]): object[] => ips.map((ip) => ({ ip, hostnames: ['a.example'] }));
const variables = (...names: string[]): object[] => names.map((name) => ({ name, value: 'x' }));
const volumes = (...names: string[]): object[] => names.map((name) => ({ name, emptyDir: {} }));
const mounts = (...paths: string[]): object[] => paths.map((mountPath) => ({ name: 'more', mountPath }));
const names = ['high', 'a.b-c', 'High', 'a b', '-', 'a-', '.a', 'a,b', 'a'.repeat(253), 'a'.repeat(254)];

const labels: readonly Readonly<Record<string, string>>[] = [
  ...['', 'a', 'A-b_c.d', '42', 'a'.repeat(63)].map((value) => ({ team: value })),
  ...['a b', '-a', 'a.', 'a/b', 'ä', 'a\n', '{{ a }}', 'a'.repeat(64)].map((value) => ({ team: value })),
  ...['example.org/team', 'a/b', 'x-y.z/A_b', 'T', 'app.kubernetes.io/name'].map((key) => ({ [key]: 'a' })),
  ...['Example.org/team', '/team', 'a/', 'a/b/c', 'a..b/c', '-a.b/c', 'a b', '', 'team-', 'ä'].map((key) => ({
    [key]: 'a',
  })),
];

const paths: readonly string[] = [
  ...[
    '/more',
    '/more/',
    '/etc',
    '/etc/',
    '/etc/other',
    '/etc/weft',
    '/etc/weft/',
    '/etc/weft/more',
    '/etc/wefts',
  ],
  ...[
    '/etc/weft/signer',
    '/etc//weft/signer',
    '/etc/./weft/tls/',
    '/etc/weft/ca/more',
    '/etc/weft/authorities',
  ],
  ...['/etc/weft/../other', '/other/../etc/weft', '/..', '//', '/', '/etc/weft/policy/..', '/srv/../../tmp'],
  ...['/tmp', '/tmp/', '/tmp/more', '/tmpfs', '/run', '/run/secrets', '/run/secrets/', '/run/more', '/runs'],
  ...['/var', '/var/run', '/var/run/secrets', '/var/run/secrets/more', '/var//run/./secrets', '/var/running'],
  ...['/run/secrets/kubernetes.io/serviceaccount/token', '/var/run/secrets/kubernetes.io'],
  ...['more', './more', '../tmp', 'etc/weft/signer', '/a:b', ':/a', '/with space', '/$(HOST)', '/ä', ''],
];

/** Plausible ones and hostile ones. */
export const triedOfJobs: readonly Tried[] = [
  {
    setting: 'JOB_POD_LABELS',
    name: 'podLabels',
    values: [
      ...labels,
      ...[
        'app.kubernetes.io/managed-by',
        'vip.weft.dev/program',
        'vip.weft.dev/phase',
        'vip.weft.dev/other',
      ].map((key) => ({ [key]: 'a' })),
    ],
  },
  { setting: 'JOB_NODE_SELECTOR', name: 'nodeSelector', values: labels },
  {
    setting: 'JOB_POD_ANNOTATIONS',
    name: 'podAnnotations',
    values: [
      ...labels.filter((one) => one['team'] === undefined),
      ...['a b', '{"a":"$(HOST) $5"}', 'a\nb'].map((value) => ({ 'example.org/a': value })),
    ],
  },
  {
    setting: 'JOB_HOST_ALIASES',
    name: 'hostAliases',
    values: [
      ...[
        '10.0.0.1',
        '::1',
        'fd00::1',
        '::ffff:10.0.0.1',
        'node',
        '10.0.0',
        '10.0.0.256',
        '010.0.0.1',
        '',
        'fd00::g',
      ],
      ...['10.0.0.1/8', '10.0.0.1:80', '[::1]', ' 10.0.0.1'],
    ]
      .map((ip) => alias(ip))
      .concat([[], alias('10.0.0.1', '10.0.0.2'), alias('10.0.0.1', '::1', '10.0.0.1')]),
  },
  {
    setting: 'JOB_EXTRA_ENV',
    name: 'extraEnv',
    values: [
      variables('A', 'B', 'NODE_EXTRA_CA_CERTS'),
      variables('A', 'B', 'A'),
      ...['LOG_LEVEL', 'PRIVATE_KEY', 'DB_DSN', 'LEASE_HOLDER', 'log_level', ''].map((name) =>
        variables(name),
      ),
      [{ name: 'A', value: 1 }],
      [{ name: 'A', values: 'a' }],
      [{ name: 'A', value: '"$(B)" \\ \n <&> \u2028' }],
    ],
  },
  {
    setting: 'JOB_EXTRA_ENV_FROM',
    name: 'extraEnvFrom',
    values: [[{ configMapRef: { name: 'a' } }], [{ secretRef: {} }], [{ secret: { name: 'a' } }]],
  },
  {
    setting: 'JOB_EXTRA_VOLUMES',
    name: 'extraVolumes',
    values: [
      ...[['a', 'b'], ['a', 'b', 'a'], ['tmp'], ['']].map((some) => volumes(...some)),
      ...['policy', 'signer', 'tls', 'ca', 'token', 'temporary'].map((name) => volumes(name)),
      [{ emptyDir: {} }],
    ],
  },
  {
    setting: 'JOB_EXTRA_VOLUME_MOUNTS',
    name: 'extraVolumeMounts',
    values: [
      ...paths.map((path) => mounts(path)),
      mounts('/a', '/b', '/a'),
      mounts('/a', '/a/'),
      [{ name: 'other', mountPath: '/other' }],
    ],
    beside: { extraVolumes: volumes('more') },
    settings: { JOB_EXTRA_VOLUMES: JSON.stringify(volumes('more')) },
  },
  { setting: 'JOB_PRIORITY_CLASS', name: 'priorityClassName', values: names },
  { setting: 'JOB_RUNTIME_CLASS', name: 'runtimeClassName', values: names },
  { setting: 'JOB_SCHEDULER', name: 'schedulerName', values: names },
  {
    setting: 'JOB_DNS_POLICY',
    name: 'dnsPolicy',
    values: ['', 'Default', 'ClusterFirst', 'ClusterFirstWithHostNet', 'None', 'Cluster'],
  },
  {
    setting: 'JOB_DNS_POLICY',
    name: 'dnsPolicy',
    values: ['None'],
    beside: { dnsConfig: { nameservers: ['10.0.0.53'] } },
    settings: { JOB_DNS_CONFIG: '{"nameservers":["10.0.0.53"]}' },
  },
  {
    setting: 'JOB_DNS_POLICY',
    name: 'dnsPolicy',
    values: ['None'],
    beside: { dnsConfig: { nameservers: [], searches: ['a'] } },
    settings: { JOB_DNS_CONFIG: '{"nameservers":[],"searches":["a"]}' },
  },
  {
    setting: 'JOB_DNS_CONFIG',
    name: 'dnsConfig',
    values: [{ nameservers: ['10.0.0.53'] }, { nameserver: ['10.0.0.53'] }, { options: [{ value: 'a' }] }],
  },
  {
    setting: 'JOB_RESOURCES',
    name: 'resources',
    values: [{ limits: { cpu: 2, memory: '8Gi' } }, { limits: { memory: '1GB' } }, { request: {} }],
  },
  {
    setting: 'JOB_POD_SECURITY_CONTEXT',
    name: 'podSecurityContext',
    values: [{ runAsUser: 1000700000 }, { runAsUser: -1 }, { runAsUser: 1.5 }, { runAsUsr: 1 }],
  },
  {
    setting: 'JOB_SECURITY_CONTEXT',
    name: 'securityContext',
    values: [{ privileged: true }, { seccompProfile: {} }, { capabilities: { drop: 'ALL' } }],
  },
  {
    setting: 'JOB_TOLERATIONS',
    name: 'tolerations',
    values: [[{ operator: 'Exists' }], [{ effect: 'Never' }], [{ keys: 'a' }]],
  },
  {
    setting: 'JOB_AFFINITY',
    name: 'affinity',
    values: [{ podAffinity: {} }, { podAfinity: {} }, { nodeAffinity: [] }],
  },
];
