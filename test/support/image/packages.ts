import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Packages that are installed below a folder, as name@version, each once; `paths` are all that is there. */
export function installedPackages(folder: string, paths: Iterable<string>): string[] {
  const found = new Set<string>();
  for (const path of paths) {
    if (!/(^|\/)node_modules\/(@[^/]+\/)?[^/@]+\/package\.json$/.test(path)) continue;
    const { name, version } = JSON.parse(readFileSync(join(folder, path), 'utf8')) as Record<string, string>;
    found.add(`${name}@${version}`);
  }
  return [...found].sort();
}
