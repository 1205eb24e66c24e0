import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { configReference } from './reference.js';

/** `weft config`: prints the reference of all settings; with --write into CONFIGURATION.md. */
export async function runConfig(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { write: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  });
  if (values.help)
    process.stdout.write(
      'weft config [--write]: prints the reference of all settings, or writes it to CONFIGURATION.md\n',
    );
  else if (values.write) writeFileSync(join(packageRoot, 'CONFIGURATION.md'), configReference());
  else process.stdout.write(configReference());
}
