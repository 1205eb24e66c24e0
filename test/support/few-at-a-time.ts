/** Runs work for every item, a few at a time and in their order; fails with the first failure. */
export async function forEach<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items].reverse();
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
    }),
  );
}
