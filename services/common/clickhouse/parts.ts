/**
 * Cuts lines into parts that are inserted one after the other, since reads wait behind an
 * insert of the embedded engine; a line is never cut.
 *
 * @param characters of a part at most, unless one line has more.
 * @param count lines of a part at most.
 */
export function splitLines(lines: readonly string[], characters: number, count: number): string[][] {
  const parts: string[][] = [];
  let [part, length]: [string[], number] = [[], 0];
  for (const line of lines) {
    if (part.length > 0 && (length + line.length > characters || part.length >= count)) {
      parts.push(part);
      [part, length] = [[], 0];
    }
    part.push(line);
    length += line.length;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}
