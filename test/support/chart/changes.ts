/** Another value for a leaf of values.yaml. */
export interface Change {
  readonly to: unknown;
  /** What has to be set for it to be looked at, before and after. */
  readonly beside?: unknown;
  /** What can only be set together with it. */
  readonly also?: unknown;
}

/** What only tells in a cluster; the suite crd_test.yaml and the tests of a release have one. */
export const onlyInCluster: ReadonlySet<string> = new Set(['crds.takeOwnership']);

const account = { create: false, name: 'other' };
/** A program could not reach what only a Secret tells. */
const noProgram = { scoringPrograms: { main: null } };
const nodeSecret = { node: { rpc: '', rest: '', jsonRpc: '', existingSecret: 'other' }, ...noProgram };
const clickhouseSecret = { clickhouse: { url: '', user: '', password: '', existingSecret: 'other' } };
const clickhouseKey = { to: 'other', beside: { ...clickhouseSecret, ...noProgram } };
const certManager = {
  tls: { enabled: true, certManager: { enabled: true, issuerRef: { name: 'ca' } } },
};
const sharedCertificate = { tls: { enabled: true, existingSecret: 'shared' } };
const keda = {
  gateway: { autoscaling: { enabled: true, keda: { enabled: true, triggers: [{ type: 'cron' }] } } },
};
const scaled = { gateway: { autoscaling: { enabled: true } } };
/** Where no autoscaler decides. */
const unscaled = (service: string) => ({
  services: { [service]: { serve: { autoscaling: { enabled: false } } } },
});
const peer = { ipBlock: { cidr: '192.0.2.0/24' } };
/** With the one that is mounted. */
const moreVolumes = [
  { name: 'more', emptyDir: {} },
  { name: 'other', emptyDir: {} },
];
const plainMigration = { migrations: { mode: 'job' } };

/**
 * By path. Booleans are turned round, numbers get one more, maps of texts another entry and texts another letter where
 * nothing stands here.
 */
export const changes: Readonly<Record<string, Change>> = {
  'node.rpc': { to: 'http://other:26657' },
  'node.rest': { to: 'http://other:1317' },
  'node.jsonRpc': { to: ['http://other:8545'] },
  'grpcToken.existingSecret': { to: 'other' },
  'grpcToken.existingSecretKey': { to: 'other', beside: { grpcToken: { existingSecret: 'one' } } },
  'node.existingSecret': { to: 'second', beside: nodeSecret },
  'node.existingSecretKeys.rpc': { to: 'other', beside: nodeSecret },
  'node.existingSecretKeys.rest': { to: 'other', beside: nodeSecret },
  'node.existingSecretKeys.jsonRpc': { to: 'other', beside: nodeSecret },
  'chain.vm': {
    to: 'wasm',
    beside: {
      chain: { vm: 'move' },
      node: { jsonRpc: '' },
      services: { richlist: { enabled: false } },
      scoringOperator: { enabled: false },
      ...noProgram,
    },
  },
  'clickhouse.url': { to: 'http://other:8123' },
  'clickhouse.existingSecret': { to: 'second', beside: clickhouseSecret },
  'clickhouse.existingSecretKeys.url': clickhouseKey,
  'clickhouse.existingSecretKeys.user': clickhouseKey,
  'clickhouse.existingSecretKeys.password': clickhouseKey,
  'global.imagePullSecrets': { to: ['other'] },
  'image.registry': { to: 'registry.example' },
  'image.digest': { to: `sha256:${'0'.repeat(64)}` },
  'image.pullPolicy': { to: 'Always' },
  'image.pullSecrets': { to: [{ name: 'other' }] },
  listenHost: { to: '::' },
  'defaults.logLevel': { to: 'debug' },
  'defaults.terminationGracePeriodSeconds': { to: 120 },
  'defaults.extraEnv': { to: [{ name: 'A', value: 'b' }] },
  'defaults.extraEnvFrom': { to: [{ secretRef: { name: 'other' } }] },
  'defaults.extraVolumes': { to: moreVolumes },
  'defaults.extraVolumeMounts': { to: [{ name: 'more', mountPath: '/other' }] },
  'defaults.initContainers': { to: [{ name: 'other', image: 'other' }] },
  'defaults.sidecars': { to: [{ name: 'other', image: 'other' }] },
  'defaults.resources.requests.cpu': { to: '150m' },
  'defaults.resources.requests.memory': { to: '300Mi' },
  'defaults.resources.limits.memory': { to: '3Gi' },
  'defaults.podSecurityContext.seccompProfile.type': { to: 'Unconfined' },
  'defaults.securityContext.capabilities.drop': { to: ['NET_RAW'] },
  'defaults.tmpSizeLimit': { to: '1Gi' },
  'defaults.tolerations': { to: [{ key: 'other' }] },
  'defaults.affinity': { to: { podAntiAffinity: {} } },
  'defaults.topologySpreadConstraints': {
    to: [{ maxSkew: 2, topologyKey: 'other', whenUnsatisfiable: 'DoNotSchedule' }],
  },
  'defaults.hostAliases': { to: [{ ip: '192.0.2.1', hostnames: ['other'] }] },
  'defaults.dnsPolicy': { to: 'Default' },
  'defaults.dnsConfig': { to: { searches: ['other'] } },
  'defaults.strategy.type': { to: 'Recreate', beside: { defaults: { strategy: { rollingUpdate: null } } } },
  'defaults.lifecycle': { to: { preStop: { exec: { command: ['true'] } } } },
  'defaults.service.ipFamilyPolicy': { to: 'SingleStack' },
  'defaults.service.ipFamilies': { to: ['IPv6'] },
  'defaults.pdb.minAvailable': { to: 1 },
  'defaults.pdb.unhealthyPodEvictionPolicy': { to: 'IfHealthyBudget' },
  'defaults.autoscaling.minReplicas': { to: 3, beside: scaled },
  'defaults.autoscaling.maxReplicas': { to: 11, beside: scaled },
  'defaults.autoscaling.targetCPUUtilizationPercentage': { to: 50, beside: scaled },
  'defaults.autoscaling.targetMemoryUtilizationPercentage': { to: 50, beside: scaled },
  'defaults.autoscaling.metrics': { to: [{ type: 'Pods' }], beside: scaled },
  'defaults.autoscaling.behavior': { to: { scaleUp: { stabilizationWindowSeconds: 1 } }, beside: scaled },
  'defaults.autoscaling.keda.enabled': {
    to: true,
    beside: { defaults: { autoscaling: { keda: { triggers: [{ type: 'cron' }] } } } },
  },
  'defaults.autoscaling.keda.triggers': {
    to: [{ type: 'cpu' }],
    beside: {
      defaults: { autoscaling: { keda: { triggers: [{ type: 'cron' }] } } },
      gateway: { autoscaling: { enabled: true, keda: { enabled: true } } },
    },
  },
  'defaults.autoscaling.keda.pollingInterval': { to: 31, beside: keda },
  'defaults.autoscaling.keda.cooldownPeriod': { to: 301, beside: keda },
  'services.block.settings': { to: { TAIL_MB: 33 } },
  'services.tx.settings': { to: { BODY_CACHE_MB: 129 } },
  'services.nft.settings': { to: { DETAIL_ATTEMPTS: 5 } },
  'services.richlist.settings': { to: { BALANCE_BATCH: 201 } },
  'services.richlist.enabled': { to: false },
  'services.block.ingest.resources.requests.cpu': { to: '300m' },
  'services.block.ingest.resources.requests.memory': { to: '300Mi' },
  'services.block.ingest.resources.limits.memory': { to: '3Gi' },
  'services.tx.ingest.resources.requests.cpu': { to: '300m' },
  'services.tx.ingest.resources.requests.memory': { to: '300Mi' },
  'services.tx.ingest.resources.limits.memory': { to: '3Gi' },
  'services.block.ingest.replicas': { to: 0 },
  'services.tx.ingest.replicas': { to: 0 },
  'services.nft.ingest.replicas': { to: 0 },
  'services.richlist.ingest.replicas': { to: 0 },
  'services.block.serve.replicas': { to: 7, beside: unscaled('block') },
  'services.tx.serve.replicas': { to: 7, beside: unscaled('tx') },
  'services.nft.serve.replicas': { to: 7, beside: unscaled('nft') },
  'services.richlist.serve.replicas': { to: 7 },
  'scoringOperator.rbac.create': { to: false, beside: noProgram },
  'gateway.replicas': { to: 7, beside: { gateway: { autoscaling: { enabled: false } } } },
  'gateway.settings': { to: { CACHE_MB: 65 } },
  'gateway.service.type': {
    to: 'NodePort',
    beside: { gateway: { service: { loadBalancerSourceRanges: [] } } },
  },
  'gateway.service.nodePort': { to: 30_080 },
  'gateway.service.loadBalancerIP': { to: '192.0.2.1' },
  'gateway.service.loadBalancerSourceRanges': { to: ['192.0.2.0/24'] },
  'gateway.service.externalTrafficPolicy': { to: 'Cluster' },
  'gateway.ingress.hosts': { to: [{ host: 'other.example' }] },
  'gateway.ingress.tls': { to: [{ secretName: 'other' }] },
  'gateway.route.apiVersion': { to: 'gateway.networking.k8s.io/v1beta1' },
  'gateway.route.parentRefs': { to: [{ name: 'other' }] },
  'gateway.route.hostnames': { to: ['other.example'] },
  'gateway.route.matches': { to: [{ path: { value: '/other' } }] },
  'gateway.route.filters': { to: [{ type: 'RequestHeaderModifier' }] },
  'gateway.route.timeouts': { to: { request: '1s' } },
  'scoringOperator.enabled': { to: false, beside: noProgram },
  'scoringOperator.settings': { to: { LEADER_LEASE_SECONDS: 16 } },
  'scoringOperator.serviceAccount.name': { to: 'other' },
  'scoringOperator.serviceAccount.create': { to: false },
  'scoringOperator.watchNamespaces': { to: ['rollups', 'other'] },
  'scoringOperator.jobs.resources.requests.cpu': { to: '150m' },
  'scoringOperator.jobs.resources.requests.memory': { to: '300Mi' },
  'scoringOperator.jobs.resources.limits.memory': { to: '3Gi' },
  'scoringOperator.jobs.podSecurityContext': { to: { runAsUser: 2000 } },
  'scoringOperator.jobs.securityContext': { to: { runAsUser: 2000 } },
  'scoringOperator.jobs.tolerations': { to: [{ key: 'scoring' }] },
  'scoringOperator.jobs.affinity': { to: { podAntiAffinity: {} } },
  'scoringOperator.jobs.priorityClassName': { to: 'scoring' },
  'scoringOperator.jobs.runtimeClassName': { to: 'scoring' },
  'scoringOperator.jobs.schedulerName': { to: 'scoring' },
  'scoringOperator.jobs.hostAliases': { to: [{ ip: '192.0.2.2', hostnames: ['scoring'] }] },
  'scoringOperator.jobs.dnsPolicy': { to: 'Default' },
  'scoringOperator.jobs.dnsConfig': { to: { searches: ['scoring'] } },
  'scoringOperator.jobs.extraEnv': { to: [{ name: 'A', value: 'b' }] },
  'scoringOperator.jobs.extraEnvFrom': { to: [{ secretRef: { name: 'scoring' } }] },
  'scoringOperator.jobs.extraVolumes': { to: moreVolumes },
  'scoringOperator.jobs.extraVolumeMounts': { to: [{ name: 'more', mountPath: '/scoring' }] },
  scoringPrograms: { to: { main: { stopAtStage: 9 } } },
  'migrations.mode': { to: 'manual' },
  'migrations.extraEnv': { to: [{ name: 'A', value: 'b' }] },
  'migrations.extraEnvFrom': { to: [{ secretRef: { name: 'other' } }] },
  'migrations.extraVolumes': { to: moreVolumes },
  'migrations.extraVolumeMounts': { to: [{ name: 'more', mountPath: '/other' }] },
  'migrations.ttlSecondsAfterFinished': { to: 60, beside: plainMigration },
  'migrations.resources.requests.cpu': { to: '60m' },
  'migrations.resources.requests.memory': { to: '130Mi' },
  'migrations.resources.limits.memory': { to: '520Mi' },
  'serviceAccount.name': { to: account.name },
  'tls.enabled': { to: true, also: { tls: { existingSecret: 'shared' } } },
  'tls.existingSecret': { to: 'other', beside: sharedCertificate },
  'tls.serverName': { to: 'other', beside: sharedCertificate },
  'tls.reloadSeconds': { to: 31, beside: sharedCertificate },
  'tls.certManager.enabled': {
    to: true,
    beside: sharedCertificate,
    also: { tls: { existingSecret: '', certManager: { issuerRef: { name: 'ca' } } } },
  },
  'tls.certManager.issuerRef.name': { to: 'other', beside: certManager },
  'tls.certManager.issuerRef.kind': { to: 'ClusterIssuer', beside: certManager },
  'tls.certManager.issuerRef.group': { to: 'other.example', beside: certManager },
  'tls.certManager.duration': { to: '24h', beside: certManager },
  'tls.certManager.renewBefore': { to: '1h', beside: certManager },
  'extraCA.key': { to: 'other.crt', beside: { extraCA: { configMap: 'authorities' } } },
  'networkPolicy.dns.to': { to: [peer] },
  'networkPolicy.dns.ports': { to: [5353] },
  'networkPolicy.clickhouse.to': { to: [peer] },
  'networkPolicy.clickhouse.ports': { to: [9999] },
  'networkPolicy.node.to': { to: [peer] },
  'networkPolicy.node.ports': { to: [9999] },
  'networkPolicy.l1.to': { to: [peer] },
  'networkPolicy.l1.ports': { to: [9999] },
  'networkPolicy.apiServer.to': { to: [peer] },
  'networkPolicy.apiServer.ports': { to: [9999] },
  'networkPolicy.gateway.from': { to: [peer] },
  'networkPolicy.metrics.from': { to: [peer] },
  'networkPolicy.extraIngress': { to: [{ from: [peer] }] },
  'networkPolicy.extraEgress': { to: [{ to: [peer] }] },
  'metrics.serviceMonitor.interval': { to: '7s' },
  'metrics.serviceMonitor.scrapeTimeout': { to: '7s' },
  'metrics.serviceMonitor.relabelings': { to: [{ action: 'drop' }] },
  'metrics.serviceMonitor.metricRelabelings': { to: [{ action: 'drop' }] },
  'metrics.prometheusRule.disabled': { to: ['WeftRollback'] },
  'metrics.prometheusRule.runbookUrl': { to: 'https://other.example/' },
  'metrics.prometheusRule.lagFor': { to: '7m' },
  'metrics.prometheusRule.nodeStallFor': { to: '7m' },
  'metrics.prometheusRule.nodeErrorRatio': { to: 0.7 },
  'metrics.prometheusRule.gatewayErrorRatio': { to: 0.7 },
  'metrics.prometheusRule.extraGroups': { to: [{ name: 'other', rules: [] }] },
  'metrics.dashboards.labels.grafana_dashboard': { to: 'yes' },
  'tests.path': { to: '/other' },
  extraObjects: { to: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'other' } }] },
};
