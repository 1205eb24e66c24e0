import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../services/common/runtime/paths.js';

/** What the chart's README says that somebody has to be granted, each as GRANT takes it. @param whose the row's name. */
export function documentedGrants(whose: RegExp): string[] {
  const text = readFileSync(join(packageRoot, 'charts/weft/README.md'), 'utf8');
  const row = text.split('\n').find((line) => line.startsWith('| ') && whose.test(line.split('|')[1] ?? ''));
  const grants = [...(row ?? '').matchAll(/`([A-Z, ]+ ON [a-z_*]+\.\*)`/g)].map(
    ([, grant]) => grant as string,
  );
  assert.ok(grants.length > 0, String(whose));
  return grants;
}
