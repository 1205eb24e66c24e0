/** Where lines go: a terminal gets one that is written over, anything else a line now and then. */
export interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** A line that changes: written over on a terminal, printed now and then elsewhere. */
export interface LiveLine {
  show(text: string): void;
  /** Prints a line that stays, in the place of the one that changed. */
  end(text: string): void;
}

/** Without a terminal a changing line is printed this often, in milliseconds. */
const plainEvery_ms = 5_000;

/** Makes a changing line. @param now milliseconds of a clock. */
export function liveLine(screen: Screen, now: () => number = () => performance.now()): LiveLine {
  let printedAt = Number.NEGATIVE_INFINITY;
  return {
    show(text) {
      if (screen.isTTY) screen.write(`\r\x1b[K${text}`);
      else if (now() - printedAt >= plainEvery_ms) {
        screen.write(`${text}\n`);
        printedAt = now();
      }
    },
    end(text) {
      screen.write(`${screen.isTTY ? '\r\x1b[K' : ''}${text}\n`);
    },
  };
}

/** `12,345` */
export const group = (n: number): string => n.toLocaleString('en-US');

/** `1h 02m`, `3m 04s` or `5s`. */
export function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  if (h > 0) return `${h}h ${String(m).padStart(2, '0')}m`;
  return m > 0 ? `${m}m ${String(s).padStart(2, '0')}s` : `${s}s`;
}
