/** How fast something goes. */
export interface Rate {
  /** Notes how far it is. @param at milliseconds of any clock that only goes forward. */
  add(at: number, height: number): void;
  /** Blocks per second over the window; 0 while it is not known. */
  perSecond(): number;
}

/** Makes a rate over a window of time. */
export function createRate(window_ms: number): Rate {
  let samples: { readonly at: number; readonly height: number }[] = [];
  return {
    add(at, height) {
      // A height below the last one is a rollback: what was before says nothing any more.
      if (height < (samples.at(-1)?.height ?? 0)) samples = [];
      samples = [...samples.filter((sample) => at - sample.at <= window_ms), { at, height }];
    },
    perSecond() {
      const [first, last] = [samples[0], samples.at(-1)];
      if (first === undefined || last === undefined || last.at === first.at) return 0;
      return ((last.height - first.height) * 1000) / (last.at - first.at);
    },
  };
}
