import { Counter, Gauge, Histogram } from 'prom-client';
import type { Metrics } from '../../common/runtime/metrics.js';
import type { WatchCounters } from '../kubernetes/watch.js';
import { openStage } from '../machine/decide.js';
import type { Look } from './look.js';
import type { Phase, ScoringProgram, Status } from './resource.js';

/** What alerts on the operator and its programs are made of. */
export interface OperatorMetrics extends WatchCounters {
  readonly leader: Gauge;
  readonly reconcileSeconds: Histogram<'result'>;
  /** Jobs that have failed while this process led. */
  jobFailed(program: ScoringProgram, phase: Phase): void;
  show(program: ScoringProgram, status: Status, look: Look | undefined): void;
  forget(namespace: string, name: string): void;
}

const own = ['namespace', 'program'] as const;

/** The metrics of the operator, in the registry of the process. */
export function createOperatorMetrics({ registry }: Pick<Metrics, 'registry'>): OperatorMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `weft_vip_${name}`, help, labelNames: own, registers });
  const current = gauge('stage_current', 'Stage that the L1 names');
  const scored = gauge('stage_scored', 'Last stage whose scores were read back');
  const finalized = gauge('stage_finalized', 'Last stage that is finalized');
  const deadline = gauge(
    'stage_deadline_seconds',
    'Seconds by the time of the L1 until the end of the running stage, by when the one before has to be finalized',
  );
  const overdue = gauge('stages_overdue', 'Stages that are over by the L1 and not finalized');
  const observed = gauge('observed_seconds', 'When the program was last looked at, unix seconds');
  const balance = gauge('signer_balance', "Balance of the signer in the rollup's smallest unit");
  const price = gauge('gas_price', 'What is offered for gas now, in wei');
  const highest = gauge('gas_price_limit', 'Highest price of gas that is ever offered, in wei');
  const jobFailures = new Counter({
    name: 'weft_vip_job_failures_total',
    help: 'Jobs that have failed',
    labelNames: [...own, 'phase'],
    registers,
  });
  const conditions = new Gauge({
    name: 'weft_vip_condition',
    help: 'Conditions of the program: 1 true, 0 false, -1 unknown',
    labelNames: [...own, 'type'],
    registers,
  });
  const watches = (name: string, help: string) =>
    new Counter({ name: `weft_operator_${name}`, help, labelNames: ['resource'], registers });
  const restarts = watches('watch_restarts_total', 'Watches that ended and were started again');
  const stalls = watches('watch_stalls_total', 'Watches that told nothing any more and were replaced');
  const all = [current, scored, finalized, deadline, overdue, observed, balance, price, highest];
  return {
    leader: new Gauge({ name: 'weft_operator_leader', help: '1 while this process leads', registers }),
    reconcileSeconds: new Histogram({
      name: 'weft_operator_reconcile_seconds',
      help: 'Time of a reconciliation',
      labelNames: ['result'],
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    restarted: (resource) => restarts.inc({ resource }),
    stalled: (resource) => stalls.inc({ resource }),
    jobFailed: ({ metadata }, phase) =>
      jobFailures.inc({ namespace: metadata.namespace, program: metadata.name, phase }),
    show({ metadata }, status, look) {
      const labels = { namespace: metadata.namespace, program: metadata.name };
      const set = (one: Gauge<'namespace' | 'program'>, value: number | undefined): void => {
        if (value !== undefined) one.set(labels, value);
      };
      set(current, status.stage?.current);
      set(scored, status.lastScoredStage);
      set(finalized, status.lastFinalizedStage);
      for (const { type, status: is } of status.conditions ?? [])
        conditions.set({ ...labels, type }, is === 'True' ? 1 : is === 'False' ? 0 : -1);
      if (look === undefined) return;
      observed.set(labels, Math.floor(look.at / 1000));
      const { l1, contract } = look.observation;
      if (!('error' in look.signer)) {
        const { max_gas_price } = look.signer;
        balance.set(labels, Number(look.signer.balance));
        price.set(labels, Number(look.signer.gas_price));
        set(highest, max_gas_price === undefined ? undefined : Number(max_gas_price));
      }
      if ('error' in l1) return;
      deadline.set(labels, l1.stage_end_time - l1.l1_time);
      if ('error' in contract) return;
      const open = openStage(contract.stages);
      const isPast = l1.l1_time >= l1.stage_end_time ? 1 : 0;
      if (open !== undefined) overdue.set(labels, Math.max(0, Number(l1.stage - open.stage) + isPast));
    },
    forget(namespace, name) {
      const labels = { namespace, program: name };
      for (const one of all) one.remove(labels);
      for (const phase of ['score', 'finalize']) jobFailures.remove({ ...labels, phase });
      for (const type of conditionTypes) conditions.remove({ ...labels, type });
    },
  };
}

const conditionTypes = [
  'Ready',
  'ChainReachable',
  'IndexerCaughtUp',
  'SignerAuthorized',
  'SignerFunded',
  'ScoreUpToDate',
  'FinalizationPending',
  'Degraded',
] as const;
