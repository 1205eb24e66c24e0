import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const heapModule = new URL('../../services/common/runtime/heap.js', import.meta.url).href;

/** What a process prints that sets the bound and then works on; V8 complains of flags that it does not know. */
async function complaints(percent: number): Promise<string> {
  const program = `
    import { limitHeapGrowth } from ${JSON.stringify(heapModule)};
    limitHeapGrowth(${percent});
    const recent = new Array(1_000);
    for (let i = 0; i < 500_000; i++) recent[i % recent.length] = { i, of: [i] };`;
  return (await run(process.execPath, ['--input-type=module', '-e', program])).stderr;
}

describe('growth of the heap', () => {
  it('is bounded by a flag that this V8 knows', async () => {
    assert.equal(await complaints(0), '');
    assert.equal(await complaints(100), '');
  });
});
