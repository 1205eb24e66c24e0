import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The package's own folder: where package.json stands. Files that are read at run time
 * (SQL, pages, recordings) are found from here, whether the code runs from dist/ or from
 * elsewhere; WEFT_ROOT overrides the search.
 */
export const packageRoot: string =
  process.env['WEFT_ROOT'] ?? findRoot(dirname(fileURLToPath(import.meta.url)));

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('package.json not found above the code; set WEFT_ROOT');
  return findRoot(parent);
}

/** Whether a module is what `node` was started with, rather than imported. */
export function isMainModule(url: string): boolean {
  const started = process.argv[1];
  return started !== undefined && realpathSync(started) === fileURLToPath(url);
}
