import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '../../../services/common/clickhouse/embedded.js';
import { migrate, readMigrations } from '../../../services/common/clickhouse/migrate.js';
import { createLog } from '../../../services/common/runtime/log.js';
import { packageRoot } from '../../../services/common/runtime/paths.js';
import { openNftIndex } from '../../../services/nft/tables.js';
import { benchBlocks, large, mintsPerBlock } from './chain.js';
import { measureReads, nameAll } from './reads.js';

/**
 * `weft bench --nft N`: how long NFT questions take on a collection of N tokens and on a small one, and how fast mints are
 * written. What costs the same at both sizes does not grow.
 */
export async function runNftBench(most: number): Promise<void> {
  for (const tokens of new Set([10_000, most])) {
    const folder = mkdtempSync(join(tmpdir(), 'weft-bench-nft-'));
    const database = await openEmbedded(folder);
    try {
      const target = { database: 'bench_nft', cluster: '' };
      await migrate(database, readMigrations(join(packageRoot, 'services/nft/schema')), target);
      const index = await openNftIndex(database, target);
      const store = index.openStore({ vm: 'evm', log: createLog('silent') });
      await store.recover();
      let slowest = 0;
      for (const block of benchBlocks(tokens)) {
        const before = performance.now();
        await store.writeBlocks([block]);
        if (block.events.length >= mintsPerBlock) slowest = Math.max(slowest, performance.now() - before);
        process.stderr.write(`block ${block.height} of ${tokens} tokens is written\r`);
      }
      process.stderr.write('\n');
      if (slowest > 0)
        process.stdout.write(`a block of ${mintsPerBlock} mints: ${slowest.toFixed(0)} ms at most\n`);
      await nameAll(index, store);
      process.stdout.write(
        `\n${tokens} tokens in ${large.slice(0, 4)}..., ms: median (least), processor time\n`,
      );
      await measureReads(index, tokens, ({ name, median, least, processor }) => {
        const columns = [name.padEnd(50), median.toFixed(1).padStart(7), `(${least.toFixed(1)})`.padStart(8)];
        process.stdout.write(`  ${columns.join(' ')} ${processor.toFixed(1).padStart(7)}\n`);
      });
    } finally {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    }
  }
}
