import { LRUCache } from 'lru-cache';

/** Lets something be said once about each of the last few thousand subjects. */
export function createOnce(): (subject: string) => boolean {
  const said = new LRUCache<string, true>({ max: 5_000 });
  return (subject) => {
    if (said.has(subject)) return false;
    said.set(subject, true);
    return true;
  };
}
