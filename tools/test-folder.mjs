import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where files lie in memory, and how much has to be free there. The tests take as much again. */
const [memory, least_bytes] = ['/dev/shm', 4 * 1024 ** 3];

// For the processes that this one starts: as bin/weft.js says.
process.env.UV_THREADPOOL_SIZE ??= '24';

/**
 * Makes a folder for what tests leave behind, which goes with this process. In memory where there is plenty of it: the
 * embedded engine makes and removes thousands of small files.
 *
 * @returns {string} its path
 */
export function testFolder() {
  for (const parent of [memory, tmpdir()]) removeAbandoned(parent);
  const folder = mkdtempSync(join(hasRoom(memory) ? memory : tmpdir(), `weft-tests-${process.pid}-`));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Removes the folders of processes that a signal ended: their exit hook has not run. */
function removeAbandoned(parent) {
  for (const name of existsSync(parent) ? readdirSync(parent) : []) {
    const [, pid] = /^weft-tests-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // Another user's.
    }
  }
}

/** Also the process of another user is alive, which may not be signalled. */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch ({ code }) {
    return code !== 'ESRCH';
  }
}

/** Also within the limit of a container, which counts what lies in memory. */
function hasRoom(folder) {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= least_bytes && process.availableMemory() >= 2 * least_bytes;
  } catch {
    return false;
  }
}
