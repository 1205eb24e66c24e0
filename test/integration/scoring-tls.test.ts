import assert from 'node:assert/strict';
import { join } from 'node:path';
import { BlockServiceService } from '../../services/common/gen/indexer/block/v1/block.js';
import { type RpcServer, serveRpc, unary } from '../../services/common/rpc/server.js';
import {
  type ClientSecurity,
  checkTransport,
  openTransport,
  type Transport,
} from '../../services/common/rpc/transport.js';
import { loadSettings } from '../../services/common/runtime/config.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { transportSettings } from '../../services/common/runtime/settings.js';
import { runJob } from '../../services/scoring-operator/job.js';
import { desiredCronJob } from '../../services/scoring-operator/operator/children.js';
import { type JobDefaults, jobPodSettings } from '../../services/scoring-operator/operator/job-settings.js';
import type { ScoringProgram } from '../../services/scoring-operator/operator/resource.js';
import { loadSigning } from '../../services/scoring-operator/program/config.js';
import { openProgram } from '../../services/scoring-operator/program/open.js';
import { programOf } from '../../services/scoring-operator/program/program.js';
import { makeTables } from '../../services/scoring-operator/tables.js';
import type { Anvil } from '../../tools/dev/anvil.js';
import { anvilOrSkip } from '../support/anvil.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { temporaryFolder } from '../support/folder.js';
import { sampleSpec } from '../support/kubernetes/programs.js';
import { deployKind } from '../support/score-contract.js';

const published = join(packageRoot, 'test/support/tls');
const files = (certificate: string): Record<string, string> => ({
  GRPC_TLS_CERT_FILE: join(published, `${certificate}.pem`),
  GRPC_TLS_KEY_FILE: join(published, `${certificate}.key`),
  GRPC_TLS_CA_FILE: join(published, 'first-ca.pem'),
});
const log = createLog('silent');

describe('scoring where the services want certificates', () => {
  let anvil: Anvil;
  let server: RpcServer;
  let contract: string;
  const transports: Transport[] = [];

  const transportOf = (certificate: string): Transport => {
    const config = loadSettings(transportSettings, files(certificate), checkTransport);
    const transport = openTransport(config, log, createMetrics());
    transports.push(transport);
    return transport;
  };

  before(async function () {
    anvil = await anvilOrSkip(this);
    contract = await deployKind(anvil, 'ours', 5n);
    const status = {
      chain_id: 'rollup-1',
      vm_type: 'evm',
      first_height: 1,
      height: 2,
      trace_height: 0,
      node_height: 2,
      timestamp: '',
    };
    const implementation = { getStatus: unary({ log, metrics: createMetrics() }, async () => status) };
    const service = { definition: BlockServiceService, implementation };
    server = await serveRpc([service], ['127.0.0.1:0'], transportOf('first-service'));
    server.setServing(true);
  });
  after(async () => {
    await server?.close(0);
    for (const transport of transports) transport.close();
    await anvil?.stop();
  });

  const file = () => ({
    l1: { urls: ['http://127.0.0.1:1'], module: '0x1' },
    rollup: { json_rpc_urls: [anvil.url] },
    indexers: { block: server.address.replace('127.0.0.1', 'localhost') },
    contract,
    policy: { version: 1, name: 'p', rules: [{ kind: 'transactions', name: 'sent' }] },
  });

  /** The chain of the index as a program sees it. */
  async function indexed(security?: ClientSecurity): Promise<unknown> {
    const database = await testDatabase();
    const database_name = await makeTables(database, {
      CLICKHOUSE_DATABASE: uniquePrefix(),
      CLICKHOUSE_CLUSTER: '',
      MIGRATIONS: 'apply',
    });
    const opened = await openProgram(programOf(file(), 'of the test', '/'), {
      signing: loadSigning({}),
      database,
      database_name,
      log,
      metrics: createMetrics(),
      phases: { score: false, finalize: false },
      is_read_only: true,
      security,
    });
    try {
      return (await opened.machine.chain.look()).indexed;
    } finally {
      await opened.close();
    }
  }

  it('shows one, and is told nothing without it or with one of a stranger’s CA', async () => {
    assert.equal(await indexed(transportOf('first-service').client), 'rollup-1');
    assert.ok(Object.hasOwn((await indexed()) as object, 'error'));
    assert.ok(Object.hasOwn((await indexed(transportOf('second-service').client)) as object, 'error'));
  });

  it('takes the files that the pod of a Job is given, and refuses half of them', async () => {
    const defaults: JobDefaults = {
      image: 'weft',
      serviceAccountName: 'job',
      logLevel: 'info',
      leaseNamespace: 'home',
      tls: { secretName: 'certificate', serverName: 'weft.test' },
      migrations: 'check',
      pods: loadSettings(jobPodSettings, {}),
    };
    const program = {
      metadata: { name: 'p', namespace: 'a', uid: 'u', resourceVersion: '1' },
      spec: sampleSpec,
    } as unknown as ScoringProgram;
    const made = JSON.stringify(desiredCronJob(program, 'score', '{}', false, defaults));
    for (const part of [
      '{"name":"tls","secret":{"secretName":"certificate","defaultMode":288}}',
      '{"name":"tls","mountPath":"/etc/weft/tls","readOnly":true}',
      '{"name":"GRPC_TLS_CERT_FILE","value":"/etc/weft/tls/tls.crt"}',
      '{"name":"GRPC_TLS_KEY_FILE","value":"/etc/weft/tls/tls.key"}',
      '{"name":"GRPC_TLS_CA_FILE","value":"/etc/weft/tls/ca.crt"}',
      '{"name":"GRPC_TLS_SERVER_NAME","value":"weft.test"}',
    ])
      assert.ok(made.includes(part), part);
    const plain = JSON.stringify(
      desiredCronJob(program, 'score', '{}', false, { ...defaults, tls: undefined }),
    );
    assert.equal(/GRPC_TLS|"tls"/.test(plain), false);
    const { GRPC_TLS_KEY_FILE: _, ...half } = files('first-service');
    const env = {
      ...half,
      SCORING_PROGRAM_TEXT: JSON.stringify(file()),
      DATA_DIR: temporaryFolder('job'),
    };
    assert.equal(await runJob(['score'], env, log, new AbortController().signal), 78);
  });
});
