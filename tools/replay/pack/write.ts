import { type FileHandle, mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { txsText } from '../rest.js';
import type { BlockBodies, ChainSource } from '../types.js';
import { fingerprint, type PackMeta, type PartName, partNames } from './format.js';
import { readMeta } from './read.js';

/** How many blocks are written at once. */
const blocksAtOnce = 50;

/**
 * Makes the pack of a chain, unless the file is one already.
 *
 * @returns whether it was made now.
 */
export async function preparePack(source: ChainSource, path: string): Promise<boolean> {
  if (readMeta(path)?.fingerprint === fingerprint(source)) return false;
  await mkdir(dirname(path), { recursive: true });
  const file = await open(`${path}.new`, 'w');
  try {
    await writePack(source, file);
  } finally {
    await file.close();
  }
  // under its name it is whole, whenever the process ends
  await rename(`${path}.new`, path);
  return true;
}

async function writePack(source: ChainSource, file: FileHandle): Promise<void> {
  const { first, last, evm } = source;
  const offsets = new Float64Array((last - first + 1) * partNames.length + 1);
  let [at, part, most_txs] = [0, 0, 0];
  for (let from = first; from <= last; from += blocksAtOnce) {
    const buffers: Buffer[] = [];
    for (let height = from; height < from + blocksAtOnce && height <= last; height++) {
      const bodies = source.bodies(height);
      if (!bodies) throw new Error(`the chain has no block ${height}`);
      most_txs = Math.max(most_txs, bodies.txCount);
      for (const name of partNames) {
        const bytes = Buffer.from(textOf(bodies, name));
        buffers.push(bytes);
        offsets[part++] = at;
        at += bytes.length;
      }
    }
    await file.appendFile(Buffer.concat(buffers));
  }
  offsets[part] = at;
  const meta: PackMeta = { fingerprint: fingerprint(source), first, last, most_txs, evm };
  const footer = new Float64Array([at, at + offsets.byteLength]);
  const tail = [Buffer.from(offsets.buffer), Buffer.from(JSON.stringify(meta)), Buffer.from(footer.buffer)];
  await file.appendFile(Buffer.concat(tail));
}

function textOf(bodies: BlockBodies, name: PartName): string {
  return name === 'txs' ? txsText(bodies, bodies.txs) : bodies[name];
}
