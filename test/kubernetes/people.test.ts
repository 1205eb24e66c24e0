import assert from 'node:assert/strict';
import {
  CoreV1Api,
  CustomObjectsApi,
  KubernetesObjectApi,
  RbacAuthorizationV1Api,
} from '@kubernetes/client-node';
import { ApiError, createKubeApi, type KubeApi } from '../../services/scoring-operator/kubernetes/api.js';
import { programs } from '../../services/scoring-operator/operator/controller.js';
import { eventually } from '../support/block.js';
import { shipped } from '../support/kubernetes/install.js';
import { makeNamespace, type TestNamespace } from '../support/kubernetes/namespace.js';
import { sampleProgram } from '../support/kubernetes/programs.js';

/** What a person does; each either goes well or is forbidden. */
type Deed = 'list' | 'create' | 'approve' | 'write the status' | 'remove' | 'remove all' | 'read a Secret';

describe('what people may do with ScoringPrograms, by the roles that every cluster has', function () {
  this.timeout(180_000);
  let space: TestNamespace;

  before(async () => {
    space = await makeNamespace();
    const objects = KubernetesObjectApi.makeApiClient(space.plane.config());
    for (const role of shipped('rbac/people.yaml')) await objects.create(role);
    await space.core.createNamespacedSecret({
      namespace: space.name,
      body: { metadata: { name: 'signer' }, stringData: { privateKey: 'no' } },
    });
  });
  after(async () => {
    const rbac = space.plane.config().makeApiClient(RbacAuthorizationV1Api);
    for (const role of shipped('rbac/people.yaml'))
      await rbac.deleteClusterRole({ name: role.metadata?.name as string });
  });

  /** A person with one of the roles in the namespace, and nothing else. */
  async function person(role: 'view' | 'edit' | 'admin'): Promise<string> {
    const { core, name: namespace, plane } = space;
    await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: role } } });
    await KubernetesObjectApi.makeApiClient(plane.config()).create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: `person-${role}`, namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name: role, namespace }],
    } as never);
    const { status } = await core.createNamespacedServiceAccountToken({
      name: role,
      namespace,
      body: { spec: { audiences: [], expirationSeconds: 3_600 } } as never,
    });
    return status?.token as string;
  }

  async function may(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      const status = error instanceof ApiError ? error.status : (error as { code?: number }).code;
      assert.equal(status, 403, String(error));
      return false;
    }
  }

  function deeds(own: KubeApi, token: string, mark: string): Readonly<Record<Deed, () => Promise<unknown>>> {
    const { name: namespace, plane, api } = space;
    const core = plane.config(token).makeApiClient(CoreV1Api);
    const custom = plane.config(token).makeApiClient(CustomObjectsApi);
    const fixed = `fixed-${mark}`;
    return {
      list: () => own.list(programs, namespace),
      create: () => own.create(programs, namespace, sampleProgram(`own-${mark}`)),
      approve: () => own.merge(programs, namespace, fixed, { spec: { finalize: { approvedStage: 4 } } }),
      'write the status': () =>
        own.applyStatus(
          programs,
          namespace,
          fixed,
          { ...sampleProgram(fixed), spec: undefined, status: { lastScoredStage: 9 } },
          'person',
        ),
      remove: async () => {
        const { metadata } = (await api.get<{ metadata: { uid: string } }>(programs, namespace, fixed))!;
        await own.remove(programs, namespace, fixed, metadata.uid);
      },
      'remove all': () => custom.deleteCollectionNamespacedCustomObject({ ...programs, namespace }),
      'read a Secret': () => core.readNamespacedSecret({ namespace, name: 'signer' }),
    };
  }

  const expected: Readonly<Record<'view' | 'edit' | 'admin', readonly Deed[]>> = {
    view: ['list'],
    // Who may edit may read Secrets in every cluster: that is no right of ours.
    edit: ['list', 'create', 'approve', 'remove', 'read a Secret'],
    admin: ['list', 'create', 'approve', 'remove', 'remove all', 'read a Secret'],
  };
  for (const role of ['view', 'edit', 'admin'] as const)
    it(`${role}: ${expected[role].join(', ')}`, async () => {
      const token = await person(role);
      const own = createKubeApi(space.plane.config(token));
      await space.create(sampleProgram(`fixed-${role}`));
      // The controllers add the rules to the roles of the cluster after a moment; where another test has killed the API
      // server, they may not watch again for half a minute.
      await eventually(
        () => may(() => own.list(programs, space.name)),
        `the rules to be in ${role}`,
        120_000,
      );
      const done: string[] = [];
      for (const [deed, work] of Object.entries(deeds(own, token, role)))
        if (await may(work)) done.push(deed);
      assert.deepEqual(done, expected[role]);
    });
});
