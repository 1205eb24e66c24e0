import type { Context } from 'mocha';
import { type Anvil, type AnvilOptions, anvilBinary, startAnvil } from '../../tools/dev/anvil.js';

/** Starts a local EVM node for a test, or skips the test, and says so, where the platform has none. */
export async function anvilOrSkip(test: Context, options?: AnvilOptions): Promise<Anvil> {
  if (anvilBinary() === undefined) {
    process.stdout.write(`    SKIPPED: there is no anvil for ${process.platform}-${process.arch}\n`);
    return test.skip();
  }
  return startAnvil(options);
}
