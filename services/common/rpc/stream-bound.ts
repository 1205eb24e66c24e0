/** Bounds the streams that a server sends at once. */
export interface StreamBound {
  /**
   * Begins a stream.
   *
   * @param peer address and port of the caller.
   * @returns what ends it, and does nothing when called again; undefined where there are too many.
   */
  begin(peer: string): (() => void) | undefined;
}

/**
 * One address may have half of the streams at most: whoever opens many keeps nobody else out.
 *
 * @param most how many streams there are at once.
 */
export function createStreamBound(most: number): StreamBound {
  const byAddress = new Map<string, number>();
  let total = 0;
  return {
    begin(peer) {
      const address = peer.replace(/:\d+$/, '');
      const own = byAddress.get(address) ?? 0;
      if (total >= most || own >= Math.ceil(most / 2)) return undefined;
      byAddress.set(address, own + 1);
      total += 1;
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        const left = (byAddress.get(address) ?? 1) - 1;
        if (left === 0) byAddress.delete(address);
        else byAddress.set(address, left);
        total -= 1;
      };
    },
  };
}
