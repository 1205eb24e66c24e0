/** Lines of an insert, collected. */
export interface Lines {
  add(line: string): void;
  /** Everything that was added, in a few long texts of whole lines. */
  texts(): readonly string[];
}

/** Above this length V8 keeps a string where the collector of young garbage does not copy it. */
const textLength = 256 * 1024;

/** Lines that are joined at once. */
const linesAtOnce = 1_000;

/**
 * Starts collecting. Lines are joined into long texts as they come: hundreds of thousands
 * of short strings that live until the insert would be copied by the garbage collector
 * again and again (a tenth of the time of a catch-up).
 */
export function createLines(): Lines {
  const texts: string[] = [];
  let lines: string[] = [];
  let length = 0;
  const join = (): void => {
    if (lines.length > 0) texts.push(lines.join('\n'));
    [lines, length] = [[], 0];
  };
  return {
    add(line) {
      lines.push(line);
      length += line.length;
      if (length >= textLength || lines.length >= linesAtOnce) join();
    },
    texts() {
      join();
      return texts;
    },
  };
}

// The engine takes a carriage return at the end of the first line for a file of Windows, and refuses it.
const special = /[\\\t\n\r]/;

/** A string as a field of the format TabSeparated. A lone surrogate has no UTF-8: the replacement character stands for it. */
export function tsvField(text: string): string {
  const whole = text.toWellFormed();
  if (!special.test(whole)) return whole;
  return whole
    .replaceAll('\\', '\\\\')
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r');
}
