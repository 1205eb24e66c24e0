import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { ApiError } from '../../services/scoring-operator/kubernetes/api.js';
import { programs } from '../../services/scoring-operator/operator/controller.js';
import type { ScoringProgram } from '../../services/scoring-operator/operator/resource.js';
import { makeNamespace, type TestNamespace } from '../support/kubernetes/namespace.js';
import { sampleProgram, sampleSpec } from '../support/kubernetes/programs.js';
import { startBefore } from '../support/suite.js';

describe('ScoringProgram as the API server has it', () => {
  const space = startBefore(makeNamespace);
  let next = 0;

  const fresh = (): string => `case-${++next}`;
  const refusal = async (work: Promise<unknown>): Promise<ApiError> => {
    try {
      await work;
    } catch (error) {
      assert.ok(error instanceof ApiError);
      assert.equal(error.status, 422, error.message);
      return error;
    }
    throw new assert.AssertionError({ message: 'the API server took it' });
  };

  const { finalize, score, signer, endpoints } = sampleSpec;
  const withFinalize = (more: object) => ({ finalize: { ...finalize, ...more } });
  const reference = { configMapRef: { name: 'a' } };

  const accepted: Readonly<Record<string, object>> = {
    'the least': {},
    'a schedule by its name': { score: { schedule: '@daily' } },
    'stopAtStage at the first stage': { startStage: 7, stopAtStage: 7 },
    'an inline policy with fields of its own': { policy: { inline: { version: 1, name: 'a', rules: [] } } },
    'a policy in a ConfigMap': { policy: reference },
    'endpoints in a ConfigMap': { endpoints: reference },
    'tables by ConfigMap': { clickhouse: reference },
    'words instead of a key': {
      signer: { ...signer, secretRef: { name: 'a', mnemonicKey: 'words' }, mnemonicIndex: 3 },
    },
    'an approved stage with Manual': withFinalize({ approvedStage: 4 }),
    'an approved list with its stage': withFinalize({ approvedStage: 4, approvedList: 'ab'.repeat(32) }),
    'Automatic without an approved stage': withFinalize({ approval: 'Automatic' }),
    'no delay': withFinalize({ delayAfterStageEnd: '0s' }),
    'a delay of hours and minutes': withFinalize({ delayAfterStageEnd: '1h30m' }),
    windows: {
      windows: [{ stage: 5, startTime: '2026-11-01T00:00:00Z', endTime: '2026-11-15T00:00:00Z' }],
    },
    'what may be chosen of pods': {
      podTemplate: {
        image: 'a',
        nodeSelector: { a: 'b' },
        tolerations: [{ key: 'a', operator: 'Exists' }],
        resources: { limits: { cpu: 1, memory: '1Gi' } },
        runtimeClassName: 'gvisor',
        schedulerName: 'volcano',
      },
    },
  };
  for (const [what, spec] of Object.entries(accepted))
    it(`takes ${what}`, async () => {
      await space.create(sampleProgram(fresh(), spec));
    });

  const refused: Readonly<Record<string, readonly [object, RegExp]>> = {
    'a schedule of six fields': [{ score: { schedule: '0 * * * * *' } }, /five-field cron/],
    'a schedule by another name': [{ score: { schedule: '@yearly' } }, /five-field cron/],
    'a time zone in the schedule': [{ finalize: { schedule: 'TZ=UTC * * * *' } }, /use timeZone/],
    'stopAtStage before the first': [{ startStage: 7, stopAtStage: 6 }, /stopAtStage must not be before/],
    'two policies': [{ policy: { builtin: 'tx-count', ...reference } }, /exactly one of builtin/],
    'no policy': [{ policy: {} }, /exactly one of builtin/],
    'a builtin that there is not': [{ policy: { builtin: 'luck' } }, /Unsupported value/],
    'an address that is too short': [{ contract: { address: '0xabc' } }, /40 hex digits/],
    'another machine': [{ contract: { vm: 'move', address: '0x1' } }, /Unsupported value/],
    'a signer that is no address': [{ signer: { ...signer, address: 'init1abc' } }, /signer.address/],
    'key and mnemonicKey': [
      { signer: { ...signer, secretRef: { name: 'a', key: 'b', mnemonicKey: 'c' } } },
      /only one of key/,
    ],
    'a negative delay': [withFinalize({ delayAfterStageEnd: '-5m' }), /must not be negative/],
    'a delay that is none': [withFinalize({ delayAfterStageEnd: 'soon' }), /delayAfterStageEnd/],
    'an approved list without a stage': [
      withFinalize({ approvedList: 'ab'.repeat(32) }),
      /approvedList needs approvedStage/,
    ],
    'an approved list that is no hash': [
      withFinalize({ approvedStage: 4, approvedList: 'AB' }),
      /approvedList/,
    ],
    'an approved stage with Automatic': [
      withFinalize({ approval: 'Automatic', approvedStage: 4 }),
      /approvedStage is only used/,
    ],
    'endpoints twice': [{ endpoints: { ...endpoints, ...reference } }, /either configMapRef, or l1/],
    'endpoints without the rollup': [{ endpoints: { l1: endpoints.l1 } }, /either configMapRef, or l1/],
    'an endpoint that is no URL': [
      { endpoints: { ...endpoints, rollup: { jsonRpcUrls: ['ftp://a'] } } },
      /jsonRpcUrls/,
    ],
    'tables twice': [{ clickhouse: { secretRef: { name: 'a' }, ...reference } }, /exactly one of secretRef/],
    'a window that ends first': [
      { windows: [{ stage: 5, startTime: '2026-11-15T00:00:00Z', endTime: '2026-11-01T00:00:00Z' }] },
      /ends after it starts/,
    ],
    'a runtime class that is no name': [{ podTemplate: { runtimeClassName: 'G Visor' } }, /runtimeClassName/],
    'a scheduler without a name': [{ podTemplate: { schedulerName: '' } }, /schedulerName/],
    'a runtime class with a long name': [
      { podTemplate: { runtimeClassName: 'a'.repeat(254) } },
      /runtimeClassName: Too long/,
    ],
    'no deadline': [{ score: { ...score, startingDeadlineSeconds: 0 } }, /startingDeadlineSeconds/],
  };
  for (const [what, [spec, why]] of Object.entries(refused))
    it(`refuses ${what}`, async () => {
      const { message } = await refusal(space.create(sampleProgram(fresh(), spec)));
      assert.match(message, why);
    });

  it('refuses a name that leaves no room for the names of CronJobs', async () => {
    await space.create(sampleProgram('a'.repeat(43)));
    const { message } = await refusal(space.create(sampleProgram('b'.repeat(44))));
    assert.match(message, /at most 43 characters/);
  });

  it('refuses a program without what is needed', async () => {
    for (const field of Object.keys(sampleSpec)) {
      const { [field as keyof typeof sampleSpec]: _, ...rest } = sampleSpec;
      const program = { ...sampleProgram(fresh()), spec: rest };
      assert.match((await refusal(space.create(program))).message, new RegExp(`spec.${field}: Required`));
    }
  });

  it('keeps what names the program', async () => {
    const name = fresh();
    await space.create(sampleProgram(name));
    const changes: readonly (readonly [object, RegExp])[] = [
      [{ chainId: 'other-1' }, /chainId and bridgeId are immutable/],
      [{ bridgeId: 6 }, /chainId and bridgeId are immutable/],
      [{ contract: { address: `0x${'ef'.repeat(20)}` } }, /contract is immutable/],
    ];
    for (const [spec, why] of changes)
      assert.match((await refusal(space.patch(name, { spec }))).message, why);
    await space.patch(name, { spec: { suspend: true, score: { schedule: '@weekly' } } });
  });

  it('lets an approval only grow, until approval is Automatic', async () => {
    const name = fresh();
    await space.create(sampleProgram(name, withFinalize({ approvedStage: 4 })));
    const set = (change: object) => space.patch(name, { spec: { finalize: change } });
    assert.match((await refusal(set({ approvedStage: 3 }))).message, /may only grow/);
    assert.match((await refusal(set({ approvedStage: null }))).message, /may only grow/);
    await set({ approvedStage: 5 });
    await set({ approval: 'Automatic', approvedStage: null });
  });

  it('fills in defaults, and drops what it does not know', async () => {
    const name = fresh();
    const pod = { image: 'a', hostNetwork: true, containers: [{ name: 'evil' }] };
    const { spec } = await space.create(sampleProgram(name, { podTemplate: pod }));
    assert.deepEqual(spec.podTemplate, { image: 'a' });
    assert.deepEqual(
      [
        spec.suspend,
        spec.vipVersion,
        spec.startStage,
        spec.pollSeconds,
        spec.contract.vm,
        spec.countIntervals,
      ],
      [false, 1, 1, 30, 'evm', false],
    );
    const run = {
      timeZone: 'Etc/UTC',
      startingDeadlineSeconds: 600,
      backoffLimit: 2,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 5,
    };
    assert.deepEqual(spec.score, { ...score, ...run, activeDeadlineSeconds: 3600 });
    assert.deepEqual(spec.finalize, {
      ...finalize,
      ...run,
      activeDeadlineSeconds: 1800,
      approval: 'Manual',
      delayAfterStageEnd: '10m',
      confirmations: 0,
    });
    assert.deepEqual(spec.clickhouse, { secretRef: { name: 'clickhouse' }, database: 'weft' });
    assert.equal(spec.endpoints.l1?.standstillSeconds, 60);
  });

  it('shows its columns, and can be selected by chain', async () => {
    const name = fresh();
    await space.create(sampleProgram(name, { chainId: 'selected-1', suspend: true }));
    await space.api.applyStatus(
      programs,
      space.name,
      name,
      {
        ...sampleProgram(name),
        spec: undefined,
        status: {
          stage: { current: 9 },
          lastScoredStage: 8,
          lastFinalizedStage: 7,
          conditions: [
            {
              type: 'Ready',
              status: 'False',
              reason: 'Suspended',
              message: 'why',
              lastTransitionTime: '2026-11-21T00:00:00Z',
            },
          ],
        },
      },
      'scoring-operator',
    );
    const selected = '?fieldSelector=spec.chainId%3Dselected-1';
    const table = await fetchTable(space, selected);
    const columns = table.columnDefinitions.map((column) => column.name);
    assert.deepEqual(columns, [
      ...['Name', 'Chain', 'VM', 'Stage', 'Scored', 'Finalized', 'Ready', 'Reason', 'Suspend'],
      ...['Last Score', 'Message', 'Age'],
    ]);
    assert.equal(table.rows.length, 1);
    const cells = table.rows[0]?.cells.slice(0, 9);
    assert.deepEqual(cells, [name, 'selected-1', 'evm', 9, 8, 7, 'False', 'Suspended', true]);
    const wide = table.columnDefinitions.filter((column) => column.priority === 1).map((one) => one.name);
    assert.deepEqual(wide, ['VM', 'Message']);
  });

  it('keeps spec and status apart', async () => {
    const name = fresh();
    const status = { lastScoredStage: 5 };
    const made = await space.create({ ...sampleProgram(name), status });
    assert.equal(made.status, undefined);
    const changed = await space.patch(name, { status });
    assert.equal((changed as ScoringProgram).status, undefined);
  });
});

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

/** The list as `kubectl get` asks for it. */
function fetchTable({ plane, name }: TestNamespace, query: string): Promise<Table> {
  const path = `/apis/vip.weft.dev/v1alpha1/namespaces/${name}/scoringprograms${query}`;
  const token = plane.config().getCurrentUser()?.token ?? '';
  const headers = {
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    authorization: `Bearer ${token}`,
  };
  return new Promise((resolve, reject) => {
    request(plane.url + path, { headers, ca: readFileSync(plane.caFile) }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => resolve(JSON.parse(text) as Table));
    })
      .on('error', reject)
      .end();
  });
}
