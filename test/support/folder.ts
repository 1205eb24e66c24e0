import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The folder of the suite, which goes with it: see `tools/test-folder.mjs`. */
const ofSuite = process.env['WEFT_TEST_FOLDER'];

const elsewhere: string[] = [];
process.once('exit', () => {
  for (const folder of elsewhere) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/**
 * Makes a folder that goes with the suite, or with this process where a file is run alone.
 *
 * @param name what it is for.
 * @param parent tmpdir() for a process whose memory is measured, or that may dump it: the suite's may lie in memory.
 */
export function temporaryFolder(name: string, parent = ofSuite ?? tmpdir()): string {
  const folder = mkdtempSync(join(parent, `weft-${name}-`));
  if (parent !== ofSuite) elsewhere.push(folder);
  return folder;
}
