/** Lets one at a time do something, in the order of asking. */
export type Mutex = <T>(work: () => Promise<T>) => Promise<T>;

/** Makes a mutex. */
export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work, work);
    last = turn.catch(() => {});
    return turn;
  };
}
