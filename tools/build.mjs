// Compiles the TypeScript to dist/. Runs as `prepare`, so that a clone is ready after
// `npm ci`; does nothing where the compiler is not installed (`npm ci --omit=dev`), since
// dist/ is there already then.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const tsc = 'node_modules/typescript/bin/tsc';
if (existsSync(tsc)) {
  const project = process.argv[2] ?? 'tsconfig.build.json';
  try {
    execFileSync(process.execPath, [tsc, '-p', project], { stdio: 'inherit' });
  } catch {
    process.exit(1);
  }
}
