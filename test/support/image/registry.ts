import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../node/programs.js';

/** Where Debian keeps the certificates that it trusts; Node's slim image has none. */
const certificates = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Lets npm in a build ask the registry that this machine asks, and trust what it trusts: files that are mounted while
 * commands run, and get into no layer.
 *
 * @returns options of a build
 */
export async function registryOptions(folder: string): Promise<string[]> {
  const trusted = [process.env['NODE_EXTRA_CA_CERTS'], certificates].find(
    (file) => file !== undefined && existsSync(file),
  );
  const registry = (await run('npm', ['config', 'get', 'registry'])).trim();
  const file = join(folder, 'npmrc');
  const lines = [`registry=${registry}`, ...(trusted === undefined ? [] : [`cafile=${certificates}`])];
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  return [
    ...['--volume', `${file}:/root/.npmrc:ro`],
    ...(trusted === undefined ? [] : ['--volume', `${trusted}:${certificates}:ro`]),
  ];
}
