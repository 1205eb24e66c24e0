import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Database } from '../../common/clickhouse/database.js';
import type { ClientSecurity } from '../../common/rpc/transport.js';
import { messageOf, UserError } from '../../common/runtime/errors.js';
import { type Stoppable, sleep } from '../../common/runtime/lifecycle.js';
import type { Log } from '../../common/runtime/log.js';
import type { Metrics } from '../../common/runtime/metrics.js';
import type { Readiness } from '../../common/runtime/ops.js';
import type { ScoringConfig } from '../config.js';
import { loadKubeConfig } from '../kubernetes/api.js';
import { loadSigning, signingSettings } from '../program/config.js';
import { makeTables } from '../tables.js';
import { paths } from './environment.js';
import { type Operator, startOperator } from './operator.js';

export interface RunOptions {
  readonly config: ScoringConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly database: Database;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How the services are spoken to. */
  readonly security: ClientSecurity;
}

/** How long to wait for a database that does not answer, in milliseconds. */
const wait_ms = 5_000;

/**
 * Runs the operator as a part of its process, which ends with code 1 when leadership is lost.
 *
 * @throws UserError where there is no Kubernetes.
 */
export function runOperator({ config, env, database, log, metrics, security }: RunOptions): Stoppable & {
  readonly readiness: Readiness;
} {
  const kube = loadKubeConfig(env);
  const namespace = config.KUBERNETES_NAMESPACE || ownNamespace();
  const watched = config.WATCH_NAMESPACES;
  const namespaces = watched === 'all' ? [''] : watched.length > 0 ? watched : [namespace];
  const stopping = new AbortController();
  let operator: Operator | undefined;
  let reason = 'the tables are not there yet';
  const work = async (): Promise<void> => {
    const database_name = await tablesOnceReachable();
    if (database_name === undefined) return;
    operator = startOperator({
      config,
      kube,
      namespace,
      namespaces,
      identity: `${hostname()}_${randomBytes(4).toString('hex')}`,
      signing: signingWithoutKey(env),
      database,
      database_name,
      log: log.child({ service: 'operator' }),
      metrics,
      security,
    });
    log.info({ namespace, watched }, 'the operator waits to lead');
    void operator.lost.then(() => {
      log.fatal('leadership was lost: the process ends');
      process.exit(1);
    });
  };
  const tablesOnceReachable = async (): Promise<string | undefined> => {
    while (!stopping.signal.aborted) {
      try {
        return await makeTables(database, config);
      } catch (error) {
        if (error instanceof UserError) throw error;
        reason = messageOf(error);
        log.warn(`waiting: ${reason}`);
        await sleep(wait_ms, stopping.signal);
      }
    }
    return undefined;
  };
  const started = work().catch((error: unknown) => {
    log.fatal({ err: error }, messageOf(error));
    process.exit(1);
  });
  return {
    readiness: () => operator?.readiness() ?? { ready: false, reason },
    async stop() {
      stopping.abort();
      await started;
      await operator?.stop();
    },
  };
}

/** Where every pod finds the name of its namespace. @throws UserError */
function ownNamespace(): string {
  const path = `${paths.token}/namespace`;
  if (!existsSync(path)) throw new UserError('KUBERNETES_NAMESPACE is not set, and this is not a pod');
  return readFileSync(path, 'utf8').trim();
}

/** How txs are sent; the operator takes no key, even where one is set. */
function signingWithoutKey(env: RunOptions['env']): ReturnType<typeof loadSigning> {
  const names = Object.keys(signingSettings).filter((name) => !/^(PRIVATE_KEY|MNEMONIC|SIGNER)/.test(name));
  return loadSigning(Object.fromEntries(names.map((name) => [name, env[name]])));
}
