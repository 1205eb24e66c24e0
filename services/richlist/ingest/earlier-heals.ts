import { readHashes } from '../../common/writer/head-table.js';
import type { DecodedBlock } from '../decode/block.js';
import type { Reader } from '../read/reader.js';
import type { Holding } from '../store/balance.js';
import { headOf } from '../store/tables.js';

/** A balance that was set right after a block. */
type Healed = Holding & { readonly amount: bigint };

/** Heals that are read together, and those of the last height beyond that. */
const healsAtOnce = 10_000;

/** Heals that are in memory: all from one height to another. */
interface Window {
  /** Of the head of the tables that they are from. */
  readonly revision: number;
  readonly byHeight: ReadonlyMap<number, readonly Healed[]>;
  readonly upTo: number;
}

/**
 * Makes a function that gives what the tables in use had set right after blocks: the node
 * may have pruned the states that it had told it of. Blocks that those tables do not have
 * give nothing.
 */
export function createEarlierHeals(
  earlier: () => Reader | undefined,
): (blocks: readonly DecodedBlock[]) => Promise<ReadonlyMap<number, readonly Healed[]>> {
  let window: Window | undefined;
  return async (blocks) => {
    const found = new Map<number, readonly Healed[]>();
    const reader = earlier();
    if (reader === undefined) window = undefined;
    if (reader === undefined) return found;
    for (const { height } of blocks) {
      if (window?.revision !== reader.head.revision) window = undefined;
      if (window === undefined || window.upTo < height) {
        if (reader.head.position.height < height) break;
        window = await readWindow(reader, height);
      }
      const heals = window.byHeight.get(height);
      if (heals !== undefined) found.set(height, heals);
    }
    return found.size === 0 ? found : ofSameBlocks(reader, blocks, found);
  };
}

async function readWindow({ database, tables, head }: Reader, from: number): Promise<Window> {
  const { revision, position } = head;
  const rows = await database.rows<Holding & { at: number; ord: number; balance: string }>(
    `SELECT token, account, c.height AS at, c.ord AS ord, toString(c.amount) AS balance FROM ${tables.of('changes')} AS c WHERE source = 'heal' AND c.height >= {from:UInt64} AND c.ord <= {last_ord:UInt64} ORDER BY c.height LIMIT {limit:UInt64} WITH TIES`,
    { from, last_ord: position.last_ord, limit: healsAtOnce },
    { name: 'richlist.earlier_heals', priority: 'write' },
  );
  const byHeight = new Map<number, Healed[]>();
  for (const { token, account, at, balance } of rows.sort((a, b) => a.ord - b.ord)) {
    const heals = byHeight.get(at) ?? [];
    heals.push({ token, account, amount: BigInt(balance) });
    byHeight.set(at, heals);
  }
  const isEnd = rows.length < healsAtOnce;
  return { revision, byHeight, upTo: isEnd ? position.height : Math.max(...byHeight.keys()) };
}

/** Leaves out what belongs to a block that was rolled back, or is about to be. */
async function ofSameBlocks(
  { database, tables }: Reader,
  blocks: readonly DecodedBlock[],
  found: ReadonlyMap<number, readonly Healed[]>,
): Promise<ReadonlyMap<number, readonly Healed[]>> {
  const heights = [...found.keys()];
  const rows = await readHashes(database, headOf(tables), Math.min(...heights), Math.max(...heights));
  const hashes = new Map(rows.map(({ height, hash }) => [height, hash]));
  const same = new Set(
    blocks.filter(({ height, hash }) => hashes.get(height) === hash).map(({ height }) => height),
  );
  return new Map([...found].filter(([height]) => same.has(height)));
}
