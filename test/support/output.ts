import type { ChildProcess } from 'node:child_process';

/** Collects what a process writes to its pipes, as one text in the order in which it comes. */
export function outputOf({ stdout, stderr }: Pick<ChildProcess, 'stdout' | 'stderr'>): () => string {
  let text = '';
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding('utf8');
    stream?.on('data', (part: string) => {
      text += part;
    });
  }
  return () => text;
}
