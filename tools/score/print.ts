import { describe, type Step } from '../../services/scoring-operator/machine/run.js';

/** Where lines go: on a terminal the progress bar is written over. */
export interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const barWidth = 30;

/** A bar that says how many scores of a stage the contract has. */
export function progressBar(screen: Screen): {
  show(stage: bigint, done: number, total: number): void;
  end(): void;
} {
  let isOpen = false;
  let last = '';
  return {
    show(stage, done, total) {
      const filled = total === 0 ? 0 : Math.round((done / total) * barWidth);
      const bar = `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}]`;
      const line =
        total === 0
          ? `stage ${stage} has no scores`
          : `stage ${stage} ${bar} ${group(done)} of ${group(total)} scores`;
      if (line === last) return;
      last = line;
      if (screen.isTTY) screen.write(`\r\x1b[K${line}`);
      else screen.write(`${line}\n`);
      isOpen = true;
    },
    end() {
      if (isOpen && screen.isTTY) screen.write('\n');
      isOpen = false;
    },
  };
}

/** One line about a look and what came of it, or would come of it. */
export function stepLine({ decision, error }: Pick<Step, 'decision' | 'error'>, isDry = false): string {
  const { kind, reason, message } = describe(decision);
  const words: Readonly<Record<string, string>> = {
    score: isDry ? 'would do' : error === undefined ? 'done' : 'failed',
    finalize: isDry ? 'would do' : error === undefined ? 'done' : 'failed',
    alarm: 'ALARM',
    wait: 'waiting',
    nothing: 'nothing to do',
  };
  return `${words[kind] ?? kind}: ${message === '' ? reason : `${message} (${reason})`}${error === undefined ? '' : `\n  ${error}`}`;
}

/** Prints a line for every step that says something else than the one before: what is waited for is said once. */
export function stepPrinter(screen: Screen): (step: Pick<Step, 'decision' | 'error'>) => void {
  let last = '';
  return (step) => {
    const line = stepLine(step);
    if (line !== last) screen.write(`${line}\n`);
    last = line;
  };
}

/** Rows under a heading, columns as wide as they need to be; numbers stand to the right. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heading, ...rows];
  const widths = heading.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const isNumber = heading.map((_, column) => rows.every((row) => /^[\d,.]*$/.test(row[column] ?? '')));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        isNumber[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join('  ')
      .trimEnd();
  return `${[line(heading), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n')}\n`;
}

/** A number with commas. */
export const group = (value: number | bigint | string): string => BigInt(value).toLocaleString('en-US');

/** Unix seconds as people read them. */
export const time = (seconds: number): string =>
  seconds === 0 ? '' : `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
