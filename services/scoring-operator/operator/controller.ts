import type { Log } from '../../common/runtime/log.js';
import type { KubeApi } from '../kubernetes/api.js';
import type { Watched } from '../kubernetes/watch.js';
import type { Notice } from './events.js';
import type { JobDefaults } from './job-settings.js';
import type { OperatorMetrics } from './metrics.js';
import type { Observer } from './observer.js';
import { type CronJob, group, type Job, plural, type ScoringProgram, version } from './resource.js';

/** What a reconciliation works with. */
export interface Controller {
  readonly api: KubeApi;
  readonly programs: Pick<Watched<ScoringProgram>, 'get'>;
  readonly cronJobs: Pick<Watched<CronJob>, 'items'>;
  readonly jobs: Pick<Watched<Job>, 'items'>;
  readonly observer: Observer;
  readonly defaults: JobDefaults;
  readonly record: (program: ScoringProgram, notice: Notice) => Promise<void>;
  readonly metrics: OperatorMetrics;
  readonly log: Log;
  /** Failed Jobs that were counted. */
  readonly counted: Set<string>;
  /** When this process began to lead, unix milliseconds: Jobs that failed before are another's to count. */
  readonly since: number;
  /** By CronJob: the generation that was last found to have nothing in its spec but ours. */
  readonly pure: Map<string, string>;
}

/** The custom resource as paths of the API name it. */
export const programs = { group, version, plural };
