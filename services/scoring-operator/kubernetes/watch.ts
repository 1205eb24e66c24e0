import {
  type Informer,
  type KubeConfig,
  type KubernetesObject,
  makeInformer,
  type ObjectCache,
} from '@kubernetes/client-node';
import { messageOf } from '../../common/runtime/errors.js';
import type { Log } from '../../common/runtime/log.js';
import type { KubeApi, ListOf, Resource } from './api.js';

/** The parts of every object. */
export interface Listed {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly resourceVersion: string };
}

export interface WatchOptions<T> {
  readonly config: KubeConfig;
  readonly api: Pick<KubeApi, 'list'>;
  readonly resource: Resource;
  /** Empty for all of them. */
  readonly namespace: string;
  readonly labelSelector?: string;
  /** Between two lists that are compared with what the watch has told, in milliseconds. */
  readonly relist_ms: number;
  readonly onChange: (object: T) => void;
  readonly log: Log;
  readonly counters: WatchCounters;
}

/** What went wrong with watches, for metrics. */
export interface WatchCounters {
  restarted(plural: string): void;
  stalled(plural: string): void;
}

/** Objects of a kind as they are known here. */
export interface Watched<T> {
  readonly items: () => readonly T[];
  get(namespace: string, name: string): T | undefined;
  /** Resolves once the first list is there. */
  readonly synced: Promise<void>;
  stop(): Promise<void>;
}

/** Waits after failures in a row, in milliseconds: doubled from the first to the last. */
const [first_ms, last_ms] = [500, 30_000];

/** After how long a quiet connection counts as well again, in milliseconds. */
const well_ms = 10_000;

/** How long a watch has to tell what a list has shown before it counts as stalled, in milliseconds. */
const grace_ms = 5_000;

/**
 * Watches objects with the library's informer, which by itself neither comes back after an error nor notices a
 * connection that tells nothing any more: it is started again after errors, and a list is compared with it now and
 * then. Where that differs the informer is replaced.
 */
export function watchObjects<T extends Listed>(options: WatchOptions<T>): Watched<T> {
  const { config, api, resource, namespace, labelSelector, onChange, log, counters } = options;
  const within = namespace === '' ? '' : `namespaces/${namespace}/`;
  const path = `/apis/${resource.group}/${resource.version}/${within}${resource.plural}`;
  let isStopped = false;
  let failures = 0;
  let restart: NodeJS.Timeout | undefined;
  let well: NodeJS.Timeout | undefined;
  let isSynced = false;
  let setSynced = (): void => {};
  const synced = new Promise<void>((resolve) => {
    setSynced = resolve;
  });

  const list = (): Promise<ListOf<T>> => api.list<T>(resource, namespace, { labelSelector });
  type Source = Informer<KubernetesObject> & ObjectCache<KubernetesObject>;
  const items = (): readonly T[] => current.list() as unknown as readonly T[];

  const open = (): Source => {
    const informer = makeInformer(
      config,
      path,
      async () => {
        const found = await list();
        // What the list itself tells comes with the next turn.
        setImmediate(() => {
          if (informer === coming) takeOver(informer);
          isSynced = true;
          setSynced();
        });
        return found as never;
      },
      labelSelector,
    );
    for (const event of ['add', 'update', 'delete'] as const)
      informer.on(event, (object) => {
        if (informer === current) onChange(object as unknown as T);
      });
    informer.on('connect', () => {
      clearTimeout(well);
      well = setTimeout(() => {
        failures = 0;
      }, well_ms);
      well.unref();
    });
    informer.on('error', (error: unknown) => {
      clearTimeout(well);
      if (isStopped || !isOurs(informer)) return;
      const wait = Math.min(last_ms, first_ms * 2 ** failures) * (0.8 + Math.random() * 0.4);
      failures += 1;
      counters.restarted(resource.plural);
      log.warn(
        { resource: resource.plural, wait_ms: Math.round(wait) },
        `the watch ended: ${messageOf(error)}`,
      );
      clearTimeout(restart);
      restart = setTimeout(() => start(informer), wait);
    });
    return informer;
  };
  const start = (informer: Source): void => {
    if (isStopped || !isOurs(informer)) return;
    informer.start().catch((error: unknown) => {
      log.warn({ resource: resource.plural }, `the watch could not be started: ${messageOf(error)}`);
      restart = setTimeout(() => start(informer), last_ms);
    });
  };
  const isOurs = (informer: Source): boolean => informer === current || informer === coming;
  /** Opens another informer, which takes over once it has listed: until then the old one's objects are better than none. */
  const replace = (): void => {
    void coming?.stop();
    coming = open();
    start(coming);
  };
  const takeOver = (informer: Source): void => {
    const [old, before] = [current, items()];
    current = informer;
    coming = undefined;
    void old.stop();
    // What vanished meanwhile is told by nobody.
    for (const object of [...before, ...items()]) onChange(object);
  };

  /** Compares a list with what is known; differences have to be gone after a while. */
  const check = async (): Promise<void> => {
    if (!isSynced) return;
    const found = await list();
    const listed = found.items;
    const isBehind = (): boolean =>
      listed.some((object) => isOlder(current, object)) || items().some((object) => isGone(object, found));
    if (!isBehind()) return;
    await new Promise((resolve) => setTimeout(resolve, grace_ms).unref());
    if (isStopped || !isBehind()) return;
    counters.stalled(resource.plural);
    log.error({ resource: resource.plural }, 'the watch had stalled: it is replaced');
    replace();
  };
  const timer = setInterval(() => {
    check().catch((error: unknown) => {
      log.warn({ resource: resource.plural }, `the list could not be compared: ${messageOf(error)}`);
    });
    for (const object of items()) onChange(object);
  }, options.relist_ms);
  timer.unref();

  let coming: Source | undefined;
  let current = open();
  start(current);
  return {
    items,
    get: (space, name) => current.get(name, space) as unknown as T | undefined,
    synced,
    async stop() {
      isStopped = true;
      clearInterval(timer);
      clearTimeout(restart);
      clearTimeout(well);
      await coming?.stop();
      await current.stop();
    },
  };
}

/** Whether an object is known here that a list has no more: one that was made after the list is not meant. */
function isGone<T extends Listed>(
  { metadata }: T,
  { metadata: { resourceVersion }, items }: ListOf<T>,
): boolean {
  const isThere = items.some(
    (one) => one.metadata.name === metadata.name && one.metadata.namespace === metadata.namespace,
  );
  return !isThere && BigInt(metadata.resourceVersion) <= BigInt(resourceVersion);
}

/** Whether an informer lacks an object, or has an older version of it. */
function isOlder(informer: ObjectCache<KubernetesObject>, { metadata }: Listed): boolean {
  const known = informer.get(metadata.name, metadata.namespace)?.metadata?.resourceVersion;
  return known === undefined || BigInt(known) < BigInt(metadata.resourceVersion);
}

/** Watches objects in several namespaces, each by itself; an empty name stands for all of them. */
export function watchNamespaces<T extends Listed>(
  namespaces: readonly string[],
  options: Omit<WatchOptions<T>, 'namespace'>,
): Watched<T> {
  const all = namespaces.map((namespace) => watchObjects<T>({ ...options, namespace }));
  return {
    items: () => all.flatMap((one) => one.items()),
    get(namespace, name) {
      for (const one of all) {
        const found = one.get(namespace, name);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    synced: Promise.all(all.map((one) => one.synced)).then(() => {}),
    async stop() {
      await Promise.all(all.map((one) => one.stop()));
    },
  };
}
