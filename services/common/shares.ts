/** An amount of something that several clients take of and give back. */
export interface Shares {
  /**
   * Takes some of it.
   *
   * @param amount how much; default: 1.
   * @returns what gives it back, and does nothing when called again; undefined when the client may not have it.
   */
  take(client: string, amount?: number): (() => void) | undefined;
}

/**
 * Shares an amount among those who want it. While enough is left everybody may take. When it is not, a client may that stays
 * within its share, or has nothing yet, so that one who takes everything keeps nobody else out; for those there is as much
 * again.
 *
 * @param most how much there is.
 */
export function createShares(most: number): Shares {
  const taken = new Map<string, number>();
  let total = 0;
  return {
    take(client, amount = 1) {
      const had = taken.get(client) ?? 0;
      const clients = taken.size + (had === 0 ? 1 : 0);
      const share = Math.floor(most / clients);
      const isFair = had === 0 || had + amount <= share;
      if (total + amount > most && (!isFair || total >= 2 * most)) return undefined;
      taken.set(client, had + amount);
      total += amount;
      let isBack = false;
      return () => {
        if (isBack) return;
        isBack = true;
        const left = (taken.get(client) ?? amount) - amount;
        if (left === 0) taken.delete(client);
        else taken.set(client, left);
        total -= amount;
      };
    },
  };
}
