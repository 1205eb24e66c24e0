import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../services/common/runtime/paths.js';
import { run } from '../node/programs.js';

/**
 * Puts together, without Docker, what the Dockerfile has in /weft: the same files besides node_modules, and the
 * dependencies without those of development and without the embedded engine.
 *
 * @param folder where it shall be; nothing is there yet
 * @param work an empty folder on the same file system
 */
export async function assembleWeft(folder: string, work: string): Promise<void> {
  const assemble = ['tools/image/assemble.mjs', folder];
  await run('env', ['-C', packageRoot, 'SOURCE_DATE_EPOCH=0', process.execPath, ...assemble]);
  mkdirSync(work, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(packageRoot, file), join(work, file));
  await run('npm', [
    ...['ci', '--prefix', work, '--omit=dev', '--omit=optional', '--ignore-scripts'],
    ...['--no-audit', '--no-fund', '--prefer-offline'],
  ]);
  const installed = join(work, 'node_modules');
  rmSync(join(installed, '.package-lock.json'));
  await run('find', [installed, '-type', 'd', '-empty', '-delete']);
  renameSync(installed, join(folder, 'node_modules'));
}
