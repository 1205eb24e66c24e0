import { createHash } from 'node:crypto';
import type { Log } from '../../common/log.js';
import { events, isConflict, type KubeApi } from '../kubernetes/api.js';
import { microTime } from '../kubernetes/lease.js';
import type { Reason } from './reasons.js';
import { group, kind, manager, type ScoringProgram, version } from './resource.js';

/** Something that people who look at a program shall see. */
export interface Notice {
  readonly type: 'Normal' | 'Warning';
  readonly reason: Reason;
  /** What was done or found, in one CamelCase word. */
  readonly action: string;
  readonly note: string;
}

interface EventRecord {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly series?: { readonly count: number };
}

/** An event's note may have so many characters. */
const mostNote = 1_000;

/**
 * Records notices as events. The same notice of the same program has the same name, whoever writes it: said again it is
 * counted in its series. A notice that cannot be written is logged, and nothing fails because of it.
 */
export function createRecorder(
  api: Pick<KubeApi, 'get' | 'create' | 'merge'>,
  identity: string,
  log: Log,
): (program: ScoringProgram, notice: Notice) => Promise<void> {
  return async ({ metadata, apiVersion }, { type, reason, action, note }) => {
    const { namespace, uid } = metadata;
    const name = `${metadata.name}.${digest(`${uid}/${type}/${reason}/${action}/${note}`)}`;
    const now = microTime();
    try {
      await api
        .create(events, namespace, {
          apiVersion: 'events.k8s.io/v1',
          kind: 'Event',
          metadata: { name, namespace },
          eventTime: now,
          type,
          reason,
          action,
          note: note.slice(0, mostNote) || reason,
          regarding: {
            apiVersion: apiVersion ?? `${group}/${version}`,
            kind,
            namespace,
            name: metadata.name,
            uid,
          },
          reportingController: `${group}/${manager}`,
          reportingInstance: identity.slice(0, 128),
        })
        .catch(async (error: unknown) => {
          if (!isConflict(error)) throw error;
          const known = await api.get<EventRecord>(events, namespace, name);
          const count = Math.max(2, (known?.series?.count ?? 1) + 1);
          await api.merge(events, namespace, name, { series: { count, lastObservedTime: now } });
        });
    } catch (error) {
      log.warn({ err: error, reason }, 'an event could not be written');
    }
  };
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
