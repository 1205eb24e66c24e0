import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../services/common/runtime/paths.js';

/**
 * Folder of a Go module in the version that another module requires; it is downloaded where it is not there yet.
 *
 * @param by folder of the module that requires it, below test/chart/tools.
 * @throws Error where it cannot be had.
 */
export function goModule(by: string, name: string): string {
  const cwd = join(packageRoot, 'test/chart/tools', by);
  const version = new RegExp(`${name} (v\\S+)`).exec(readFileSync(join(cwd, 'go.mod'), 'utf8'))?.[1];
  const { status, stdout, stderr } = spawnSync('go', ['mod', 'download', '-json', `${name}@${version}`], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-mod=readonly' },
  });
  if (status !== 0) throw new Error(`${name} ${version} cannot be had: ${stdout} ${stderr}`);
  return JSON.parse(stdout).Dir as string;
}
