import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { applyObject } from '../support/chart/apply.js';
import { render, valuesFile, writeValues } from '../support/chart/helm.js';
import { controlPlane } from '../support/kubernetes/control-plane.js';
import { ask } from '../support/kubernetes/raw.js';
import { startBefore } from '../support/suite.js';

/** What somebody may do, as `verb group/resource`, and a name after it where only one may be touched. */
const ofPrograms = [
  ...['get', 'list', 'watch', 'patch'].map((verb) => `${verb} vip.weft.dev/scoringprograms`),
  ...['get', 'list', 'watch', 'create', 'patch', 'delete'].map((verb) => `${verb} batch/cronjobs`),
  ...['get', 'list', 'watch'].map((verb) => `${verb} batch/jobs`),
  'patch vip.weft.dev/scoringprograms/status',
  'get /configmaps',
  ...['get', 'list', 'create', 'patch'].map((verb) => `${verb} events.k8s.io/events`),
];
const leases = 'coordination.k8s.io/leases';
const ofLeader = (name = 'weft-scoring-operator') => [
  `create ${leases}`,
  ...['get', 'update'].map((verb) => `${verb} ${leases} ${name}`),
];
const ofSigners = ['get', 'update'].map((verb) => `${verb} ${leases}`);
/** Jobs may touch every Lease there. */
const ofJobs = [...ofLeader(), ...ofSigners];
/** What nobody of the release may do anywhere. */
const never = [
  ...['get', 'list', 'watch'].map((verb) => `${verb} /secrets`),
  ...['list /configmaps', 'create /pods', 'create batch/jobs', 'delete coordination.k8s.io/leases'],
  ...['create vip.weft.dev/scoringprograms', 'delete vip.weft.dev/scoringprograms'],
  ...['create rbac.authorization.k8s.io/rolebindings', 'create /serviceaccounts/token'],
];

describe('T1: rights of the operator and of its Jobs', () => {
  const plane = startBefore(controlPlane);
  let home: string;
  let far: string;
  let other: string;

  beforeEach(async () => {
    const suffix = randomBytes(3).toString('hex');
    [home, far, other] = ['home', 'far', 'other'].map((name) => `${name}-${suffix}`) as [
      string,
      string,
      string,
    ];
    for (const name of [home, far, other])
      assert.equal((await ask(plane, 'POST', '/api/v1/namespaces', { metadata: { name } })).status, 201);
  });

  /** Makes what a release has of rights. */
  async function grant(scoringOperator: object): Promise<void> {
    const values = writeValues({ scoringOperator });
    const objects = render([valuesFile('minimal'), values], ['--namespace', home]).filter(
      ({ apiVersion, kind }) => apiVersion.startsWith('rbac.') || kind === 'ServiceAccount',
    );
    for (const object of objects) {
      const { status, body } = await applyObject(plane, object, home);
      assert.ok(status < 300, `${object.kind} ${object.metadata.name}: ${JSON.stringify(body)}`);
    }
  }

  /** Which of these an account may do in a namespace. */
  async function allowed(account: string, namespace: string, all: readonly string[]): Promise<string[]> {
    const may: string[] = [];
    for (const one of all) {
      const [, verb, group, resource, subresource, name] =
        /^(\S+) ([^/]*)\/([^/ ]+)(?:\/(\S+))?(?: (\S+))?$/.exec(one) ?? [];
      const { body } = await ask(plane, 'POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        spec: {
          user: `system:serviceaccount:${account}`,
          groups: [
            ...['system:serviceaccounts', 'system:authenticated'],
            `system:serviceaccounts:${account.split(':')[0]}`,
          ],
          resourceAttributes: { namespace, verb, group, resource, subresource, name },
        },
      });
      if (body.status.allowed) may.push(one);
    }
    return may;
  }
  const everything = [...ofPrograms, ...ofLeader(), ...ofSigners, ...never];
  const expectRights = async (account: string, namespace: string, wanted: readonly string[]) =>
    assert.deepEqual(await allowed(account, namespace, everything), wanted, `${account} in ${namespace}`);

  it('end at the namespace of the release', async () => {
    await grant({});
    await expectRights(`${home}:weft-scoring-operator`, home, [...ofPrograms, ...ofLeader()]);
    await expectRights(`${home}:weft-scoring-operator`, far, []);
    await expectRights(`${home}:weft-scoring-job`, home, ofJobs);
    await expectRights(`${home}:weft`, home, []);
  });

  it('end at the namespaces that are named, of which the own one need not be one', async () => {
    await grant({ watchNamespaces: [far] });
    const operator = `${home}:weft-scoring-operator`;
    await expectRights(operator, home, ofLeader());
    await expectRights(operator, far, ofPrograms);
    await expectRights(operator, other, []);
    await expectRights(`${far}:weft-scoring-job`, home, ofJobs);
    await expectRights(`${far}:weft-scoring-job`, far, []);
    await expectRights(`${home}:weft-scoring-job`, home, []);
  });

  it('reach the Leases of signers where they are told to be', async () => {
    await grant({ watchNamespaces: [home, far], jobLeaseNamespace: other });
    for (const where of [home, far]) {
      await expectRights(`${where}:weft-scoring-job`, other, ofJobs);
      await expectRights(`${where}:weft-scoring-job`, where, []);
    }
    await expectRights(`${home}:weft-scoring-operator`, other, []);
  });

  it('are those to one Lease of its own, whatever its name', async () => {
    await grant({ settings: { LEADER_LEASE_NAME: 'leader-a' } });
    const account = `${home}:weft-scoring-operator`;
    const [before, after] = [ofLeader(), ofLeader('leader-a')];
    assert.deepEqual(await allowed(account, home, [...before, ...after]), [`create ${leases}`, ...after]);
  });

  it('reach all namespaces, of which only its own has its Lease', async () => {
    await grant({ watchAllNamespaces: true, watchNamespaces: [far] });
    const operator = `${home}:weft-scoring-operator`;
    await expectRights(operator, home, [...ofPrograms, ...ofLeader()]);
    for (const where of [far, other]) await expectRights(operator, where, ofPrograms);
    await expectRights(`${far}:weft-scoring-job`, home, ofJobs);
    await expectRights(`${other}:weft-scoring-job`, home, []);
  });

  it('are given to none where somebody else gives them', async () => {
    await grant({ watchNamespaces: [far], rbac: { create: false, aggregateClusterRoles: false } });
    await expectRights(`${home}:weft-scoring-operator`, far, []);
  });
});
