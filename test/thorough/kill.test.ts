import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runToEnd } from '../support/kill.js';

for (const [service, points, atLeast] of [
  ['tx', [4, 9, 2, 13, 6, 1], 4],
  ['nft', [3, 9, 14, 1, 19, 6, 25, 11, 30, 4, 22], 7],
] as const)
  describe(`the tables of the ${service} service, whose writer is killed`, function () {
    this.timeout(240_000);
    const child = fileURLToPath(new URL(`../support/${service}-crash-child.js`, import.meta.url));
    /** Runs the writing process; gives what it printed, or the signal that ended it. */
    const run = (folder: string, killAt: number) => runToEnd(child, [folder, '5', String(killAt)]);
    const folders: string[] = [];
    const folder = (): string => {
      folders.push(mkdtempSync(join(tmpdir(), `weft-${service}-kill-`)));
      return folders.at(-1) as string;
    };
    after(() => {
      for (const path of folders) rmSync(path, { recursive: true, force: true });
    });

    it('end up, however often it is killed, with the lists of one that was not', async () => {
      const undisturbed = await run(folder(), -1);
      assert.match(undisturbed.printed, /^[0-9a-f]{64}$/);
      const path = folder();
      let kills = 0;
      for (const killAt of points) {
        const { signal, printed } = await run(path, killAt);
        if (signal === 'SIGKILL') kills += 1;
        else assert.equal(printed, undisturbed.printed);
      }
      assert.ok(kills >= atLeast, `it was killed ${kills} times`);
      assert.deepEqual(await run(path, -1), undisturbed);
    });
  });
