import { randomBytes } from 'node:crypto';
import { CoreV1Api, type KubernetesObject, KubernetesObjectApi } from '@kubernetes/client-node';
import { createKubeApi, type KubeApi } from '../../../services/scoring-operator/kubernetes/api.js';
import { programs } from '../../../services/scoring-operator/operator/controller.js';
import type { ScoringProgram } from '../../../services/scoring-operator/operator/resource.js';
import { type ControlPlane, controlPlane } from './control-plane.js';
import { shipped } from './install.js';

/** A namespace with the accounts and roles that the operator ships with. */
export interface TestNamespace {
  readonly plane: ControlPlane;
  readonly name: string;
  /** As an administrator. */
  readonly api: KubeApi;
  readonly core: CoreV1Api;
  /** Connections with no more rights than the roles that ship. */
  readonly operatorToken: string;
  readonly jobToken: string;
  /** Creates a program. Fields that are not known are refused. */
  create(program: object): Promise<ScoringProgram>;
  get(name: string): Promise<ScoringProgram | undefined>;
  patch(name: string, patch: object): Promise<ScoringProgram>;
  remove(program: ScoringProgram): Promise<void>;
}

/** Makes a namespace in which only restricted pods are let in. */
export async function makeNamespace(): Promise<TestNamespace> {
  const plane = await controlPlane();
  const config = plane.config();
  const core = config.makeApiClient(CoreV1Api);
  const objects = KubernetesObjectApi.makeApiClient(config);
  const name = `test-${randomBytes(4).toString('hex')}`;
  const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await core.createNamespace({ body: { metadata: { name, labels: restricted } } });
  const accounts = {
    'weft-scoring-operator': ['rbac/leader.yaml', 'rbac/operator.yaml'],
    'weft-scoring-job': ['rbac/job.yaml'],
  };
  const tokens: string[] = [];
  for (const [account, files] of Object.entries(accounts)) {
    await core.createNamespacedServiceAccount({ namespace: name, body: { metadata: { name: account } } });
    for (const role of files.flatMap(shipped)) {
      await objects.create({ ...role, metadata: { ...role.metadata, namespace: name } });
      await objects.create({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: role.metadata?.name, namespace: name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role.metadata?.name },
        subjects: [{ kind: 'ServiceAccount', name: account, namespace: name }],
      } as KubernetesObject);
    }
    const { status } = await core.createNamespacedServiceAccountToken({
      name: account,
      namespace: name,
      body: { spec: { audiences: [], expirationSeconds: 3_600 } } as never,
    });
    tokens.push(status?.token as string);
  }
  const api = createKubeApi(config);
  return {
    plane,
    name,
    api,
    core,
    operatorToken: tokens[0] as string,
    jobToken: tokens[1] as string,
    create: (program) => api.create(programs, name, program as Record<string, unknown>),
    get: (program) => api.get(programs, name, program),
    patch: (program, patch) => api.merge(programs, name, program, patch as Record<string, unknown>),
    remove: ({ metadata }) => api.remove(programs, name, metadata.name, metadata.uid),
  };
}
