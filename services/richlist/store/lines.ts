/** One insert's text, and the rows that it holds at most. */
const [charactersAtOnce, linesAtOnce] = [3 * 1024 * 1024, 50_000];

/** Cuts lines into texts of a bearable length: reads wait behind an insert of the embedded engine. */
export function splitLines(lines: readonly string[]): string[] {
  const texts: string[] = [];
  let [part, characters]: [string[], number] = [[], 0];
  for (const line of lines) {
    if (part.length > 0 && (characters + line.length > charactersAtOnce || part.length >= linesAtOnce)) {
      texts.push(part.join('\n'));
      [part, characters] = [[], 0];
    }
    part.push(line);
    characters += line.length;
  }
  if (part.length > 0) texts.push(part.join('\n'));
  return texts;
}
