import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runToEnd } from '../support/kill.js';

const child = fileURLToPath(new URL('../support/nft-crash-child.js', import.meta.url));

describe('an nft service that is killed', function () {
  this.timeout(240_000);
  const folders: string[] = [];
  const folder = (): string => {
    folders.push(mkdtempSync(join(tmpdir(), 'weft-nft-kill-')));
    return folders.at(-1) as string;
  };
  after(() => {
    for (const path of folders) rmSync(path, { recursive: true, force: true });
  });

  it('ends up, however often it is killed, with the lists of one that was not', async () => {
    const undisturbed = await runToEnd(child, [folder(), '5', '-1']);
    assert.match(undisturbed.printed, /^[0-9a-f]{64}$/);
    const path = folder();
    let kills = 0;
    for (const killAt of [3, 9, 14, 1, 19, 6, 25, 11, 30, 4, 22]) {
      const { signal, printed } = await runToEnd(child, [path, '5', String(killAt)]);
      if (signal === 'SIGKILL') kills += 1;
      else assert.equal(printed, undisturbed.printed);
    }
    assert.ok(kills >= 7, `it was killed ${kills} times`);
    assert.deepEqual(await runToEnd(child, [path, '5', '-1']), undisturbed);
  });
});
