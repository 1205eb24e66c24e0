import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../../services/common/runtime/paths.js';
import { run } from '../node/programs.js';

/** What no image may have in it. */
export const secret = 'only-this-machine-knows-it';

/** What lies about where somebody has worked, and may hold secrets, or what an older build has left. */
const leftovers = [
  ...['.git/config', '.npmrc', '.env', '.env.production', 'services/gateway/.env.local', 'services/.npmrc'],
  ...['node_modules/left-over/index.js', 'dist/services/gateway/left-over.js', 'data/clickhouse/left-over'],
  ...['debug.log', 'services/tx/debug.log', 'bench-results/left-over.json', 'test/left-over.ts'],
];

/**
 * Copies the project as it is in its working tree, changes that are not committed with it, without what git ignores;
 * then strews leftovers over the copy that hold a secret.
 *
 * @param modes of programs, and of other files: the umask of whoever checked it out decides them
 * @returns the paths of the project's own files
 */
export async function copyProject(target: string, modes: readonly [number, number]): Promise<string[]> {
  const listed = await run('git', ['-C', packageRoot, 'ls-files', '-z', '-co', '--exclude-standard']);
  const files = listed.split('\0').filter((path) => path !== '' && existsSync(join(packageRoot, path)));
  for (const path of files) {
    const to = join(target, path);
    mkdirSync(dirname(to), { recursive: true, mode: modes[0] });
    cpSync(join(packageRoot, path), to, { verbatimSymlinks: true });
    const found = lstatSync(to);
    if (!found.isSymbolicLink()) chmodSync(to, found.mode & 0o111 ? modes[0] : modes[1]);
  }
  for (const path of leftovers) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), secret);
  }
  return files;
}
