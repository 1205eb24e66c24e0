import type { KubeConfig } from '@kubernetes/client-node';
import type { Database } from '../../common/clickhouse/database.js';
import type { ClientSecurity } from '../../common/rpc/transport.js';
import { messageOf } from '../../common/runtime/errors.js';
import { type Stoppable, stopAll } from '../../common/runtime/lifecycle.js';
import type { Log } from '../../common/runtime/log.js';
import type { Metrics } from '../../common/runtime/metrics.js';
import type { Readiness } from '../../common/runtime/ops.js';
import { createKubeApi, cronJobs, jobs } from '../kubernetes/api.js';
import { acquireLease, leaseTimes } from '../kubernetes/lease.js';
import { createQueue } from '../kubernetes/queue.js';
import { watchNamespaces } from '../kubernetes/watch.js';
import type { FactClients } from '../policy/gather/clients.js';
import type { SigningConfig } from '../program/config.js';
import { removeOrphans } from './apply.js';
import { type Controller, programs } from './controller.js';
import { createRecorder } from './events.js';
import { type JobConfig, jobDefaults } from './job-settings.js';
import { createOperatorMetrics, type OperatorMetrics } from './metrics.js';
import { createObserver } from './observer.js';
import { reconcile } from './reconcile.js';
import { type CronJob, childSelector, type Job, keyOf, labels, type ScoringProgram } from './resource.js';

export interface OperatorOptions {
  readonly config: JobConfig;
  readonly kube: KubeConfig;
  /** Namespace of the operator itself, where its Lease is. */
  readonly namespace: string;
  /** Namespaces whose programs are run; an empty name stands for all of them. */
  readonly namespaces: readonly string[];
  /** Nobody else's: the name of the pod and something random. */
  readonly identity: string;
  /** How txs are sent, for what is looked at; no key is in it. */
  readonly signing: SigningConfig;
  readonly database: Database;
  /** Database of the service; its tables are there. */
  readonly database_name: string;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly security?: ClientSecurity;
  readonly clients?: FactClients;
}

/** An operator that leads, or waits to. */
export interface Operator extends Stoppable {
  readonly readiness: Readiness;
  /** Resolves when leadership was lost: the process has to end, so that nothing of it goes on. */
  readonly lost: Promise<void>;
}

/** Programs that are reconciled at once, the least time between two reconciliations of one, and waits after failures. */
const [atOnce, least_ms, retry_ms] = [4, 500, { first: 1_000, last: 300_000 }];

/** Starts the operator: it waits for leadership in the background, and reconciles while it has it. */
export function startOperator(options: OperatorOptions): Operator {
  const { config, kube, namespace, identity, log } = options;
  const metrics = createOperatorMetrics(options.metrics);
  const api = createKubeApi(kube);
  const stopping = new AbortController();
  let setLost = (): void => {};
  const lost = new Promise<void>((resolve) => {
    setLost = resolve;
  });
  let state: 'waiting' | 'starting' | 'leading' | 'lost' = 'waiting';
  metrics.leader.set(0);

  const work = async (): Promise<void> => {
    const lease = await acquireLease(
      {
        api,
        namespace,
        name: config.LEADER_LEASE_NAME,
        identity,
        times: leaseTimes(config.LEADER_LEASE_SECONDS),
        log,
      },
      Number.POSITIVE_INFINITY,
      stopping.signal,
    );
    if (lease === undefined) return;
    log.info({ identity }, 'leading');
    metrics.leader.set(1);
    state = 'starting';
    const lead = startLeading({ ...options, api, operator_metrics: metrics });
    lead.synced
      .then(() => {
        if (state === 'starting') state = 'leading';
      })
      .catch(() => {});
    await untilAborted(AbortSignal.any([stopping.signal, lease.lost]));
    metrics.leader.set(0);
    if (lease.lost.aborted) {
      // What is under way may not go on: the process ends, and does not wait for it.
      state = 'lost';
      setLost();
      return;
    }
    await lead.stop();
    await lease.release();
  };
  const done = work().catch((error: unknown) => {
    log.fatal({ err: error }, `the operator ended: ${messageOf(error)}`);
    state = 'lost';
    setLost();
  });
  return {
    lost,
    readiness: () => {
      // One that waits to lead is as ready as it can be.
      if (state === 'leading' || state === 'waiting') return { ready: true, reason: '' };
      return {
        ready: false,
        reason: state === 'lost' ? 'leadership was lost' : 'the first lists are not there yet',
      };
    },
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

interface LeadOptions extends OperatorOptions {
  readonly api: ReturnType<typeof createKubeApi>;
  readonly operator_metrics: OperatorMetrics;
}

/** Watches and reconciles. */
function startLeading(options: LeadOptions): Stoppable & { readonly synced: Promise<void> } {
  const { config, kube, namespace, namespaces, api, log, operator_metrics, identity } = options;
  const watch = {
    config: kube,
    api,
    relist_ms: config.RELIST_SECONDS * 1_000,
    log,
    counters: operator_metrics,
  };
  /** The program that a child belongs to. */
  const ofChild = ({ metadata }: CronJob | Job): void => {
    const name = metadata.labels?.[labels.program];
    if (name !== undefined) queue.add(keyOf({ namespace: metadata.namespace, name }));
  };
  let isSynced = false;
  const queue = createQueue({
    async work(key) {
      // Children that are not listed yet would be taken for missing.
      await synced;
      const end = operator_metrics.reconcileSeconds.startTimer();
      try {
        const again = await reconcile(controller, key);
        end({ result: 'ok' });
        return again;
      } catch (error) {
        end({ result: 'error' });
        throw error;
      }
    },
    least_ms,
    retry_ms,
    atOnce,
    onFailure: () => options.metrics.problems.inc({ service: 'scoring', kind: 'reconcile' }),
    log,
  });
  const watchedPrograms = watchNamespaces<ScoringProgram>(namespaces, {
    ...watch,
    resource: programs,
    onChange: (program) => queue.add(keyOf(program.metadata)),
  });
  const children = { ...watch, labelSelector: childSelector };
  const watchedCronJobs = watchNamespaces<CronJob>(namespaces, {
    ...children,
    resource: cronJobs,
    onChange: ofChild,
  });
  const watchedJobs = watchNamespaces<Job>(namespaces, { ...children, resource: jobs, onChange: ofChild });
  const watches = [watchedPrograms, watchedCronJobs, watchedJobs];
  const synced = Promise.all(watches.map((one) => one.synced)).then(() => {
    isSynced = true;
  });
  const observer = createObserver({ ...options, api }, (key) => queue.add(key));
  const controller: Controller = {
    api,
    programs: watchedPrograms,
    cronJobs: watchedCronJobs,
    jobs: watchedJobs,
    observer,
    defaults: jobDefaults(config, namespace),
    record: createRecorder(api, identity, log),
    metrics: operator_metrics,
    log,
    counted: new Set(),
    pure: new Map(),
    since: Date.now(),
  };
  const clean = (): void => {
    if (!isSynced) return;
    removeOrphans(controller, watchedPrograms.items()).catch((error: unknown) => {
      log.warn(`CronJobs without a program could not be removed: ${messageOf(error)}`);
    });
  };
  const cleaning = setInterval(clean, config.RELIST_SECONDS * 1_000);
  cleaning.unref();
  void synced.then(clean);
  return {
    synced,
    stop: stopAll([
      () => observer.stop(),
      () => Promise.all(watches.map((one) => one.stop())),
      () => queue.stop(),
      async () => clearInterval(cleaning),
    ]),
  };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
