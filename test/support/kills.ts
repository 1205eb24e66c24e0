import type { Random } from './random.js';

/** What stops a writer where its process would have been killed. */
class Killed extends Error {}

/** Kills a writer at random points between two statements now and then, and its repairs as well. */
export function randomKills(random: Random) {
  let left = Number.POSITIVE_INFINITY;
  return {
    /** For the writer, which calls it between two statements. Once killed, nothing more is written. */
    fault(): void {
      left -= 1;
      if (left < 0) throw new Killed('killed');
    },
    /**
     * Does something, which may be killed.
     *
     * @param recover what the next process begins with, which may be killed too: then another one begins.
     * @param points most points that pass before a kill.
     * @returns whether it came through.
     */
    async survive(
      work: () => Promise<unknown>,
      recover: () => Promise<unknown>,
      points: number,
    ): Promise<boolean> {
      const comesThrough = async (does: () => Promise<unknown>): Promise<boolean> => {
        try {
          await does();
          return true;
        } catch (error) {
          if (error instanceof Killed) return false;
          throw error;
        } finally {
          left = Number.POSITIVE_INFINITY;
        }
      };
      if (random.oneIn(3)) left = random.integer(points);
      if (await comesThrough(work)) return true;
      do {
        if (random.oneIn(2)) left = random.integer(points);
      } while (!(await comesThrough(recover)));
      return false;
    },
  };
}
