import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../common/runtime/paths.js';

/** Version of the package. */
export function readVersion(): string {
  const text = readFileSync(join(packageRoot, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** The commit of the configuration, else what git says of the package's folder, else `unknown`. */
export function readCommitHash(configured: string): string {
  if (configured !== '') return configured;
  // Without this check git would answer for a repository that the package merely lies in.
  if (!existsSync(join(packageRoot, '.git'))) return 'unknown';
  try {
    const options = { cwd: packageRoot, encoding: 'utf8', timeout: 2_000, stdio: 'pipe' } as const;
    return execFileSync('git', ['rev-parse', 'HEAD'], options).trim() || 'unknown';
  } catch {
    return 'unknown';
  }
}
