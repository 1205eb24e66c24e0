import { createLru } from './lru.js';

/**
 * Writes a line unless the same was written a moment ago.
 *
 * @param key what makes two lines the same.
 * @param write writes the line, with the number of those that were left out since the last one.
 */
export type LogSampler = (key: string, write: (left_out: { readonly repeated?: number }) => void) => void;

/** How often the same line is written, and how many different ones are remembered. */
const [every_ms, remembered] = [10_000, 200];

/** Makes a sampler: what clients can cause again and again must not fill the log. */
export function createLogSampler(now: () => number = () => performance.now()): LogSampler {
  const lines = createLru<string, { written_ms: number; repeated: number }>(remembered);
  return (key, write) => {
    const name = key.slice(0, 300);
    const line = lines.get(name);
    if (line !== undefined && now() - line.written_ms < every_ms) {
      line.repeated += 1;
      return;
    }
    lines.set(name, { written_ms: now(), repeated: 0 });
    write(line === undefined || line.repeated === 0 ? {} : { repeated: line.repeated });
  };
}
