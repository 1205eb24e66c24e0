import { type Listed, type Watched, type WatchOptions, watchObjects } from './watch.js';

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
