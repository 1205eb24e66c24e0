import { inParts } from '../../common/clickhouse/literals.js';
import { groupBy } from '../../common/util/chunk.js';
import { readHashes } from '../../common/writer/head-table.js';
import type { DecodedBlock } from '../decode/block.js';
import type { Seed, SeedBalance } from '../node/seed.js';
import type { Reader } from '../read/reader.js';
import type { Holding } from '../store/balance.js';
import type { EarlierHeals } from '../store/store.js';
import { headOf } from '../store/tables.js';

/*
 * What tables that are rebuilt take over from those in use, because only the node could tell
 * it and may have pruned the state since: the state to begin with, the names of tokens, and corrections of balances.
 */

/** Balances that are read together. */
const balancesAtOnce = 5_000;

const options = (name: string) => ({ name: `richlist.${name}`, priority: 'write' as const });

/**
 * The state that the tables in use began with; undefined where they began with another block,
 * or have none. With it come the balances from before an account's first log, which were asked
 * of the node later but belong to the same height.
 */
export async function readEarlierSeed(
  earlier: Reader | undefined,
  first_height: number,
): Promise<Seed | undefined> {
  if (earlier === undefined) return undefined;
  const [first] = await earlier.database.rows<{ height: number; seed_height: number }>(
    `SELECT height, seed_height FROM ${earlier.tables.of('blocks')} ORDER BY height, last_ord LIMIT 1`,
    {},
    options('earlier_seed'),
  );
  if (first?.height !== first_height || first.seed_height === 0) return undefined;
  return { height: first.seed_height, balances: () => seedBalances(earlier, first.seed_height) };
}

async function* seedBalances(
  earlier: Reader,
  height: number,
): AsyncGenerator<SeedBalance[], void, undefined> {
  const { database, tables, head } = earlier;
  const { revision } = head;
  let after: Holding = { token: '', account: '' };
  for (;;) {
    const rows = await database.rows<Holding & { balance: string }>(
      `SELECT token, account, toString(c.amount) AS balance FROM ${tables.of('changes')} AS c WHERE source = 'seed' AND height = {height:UInt64} AND c.ord <= {last_ord:UInt64} AND (token > {token:String} OR (token = {token:String} AND account > {account:String})) ORDER BY token, account LIMIT 1 BY token, account LIMIT {limit:UInt64}`,
      { ...after, height, last_ord: head.position.last_ord, limit: balancesAtOnce },
      options('earlier_balances'),
    );
    const names = await readEarlierNames(earlier, [...new Set(rows.map(({ token }) => token))]);
    if (head.revision !== revision)
      throw new Error('the tables in use were rolled back while their beginning was read');
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(({ token, account, balance }) => ({
      ...{ token, account, amount: BigInt(balance) },
      denom: names.get(token),
    }));
    after = { token: last.token, account: last.account };
  }
}

/** What the bank module calls tokens, as far as the tables in use know it. */
export async function readEarlierNames(
  earlier: Reader | undefined,
  tokens: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (earlier === undefined || tokens.length === 0) return new Map();
  const rows = await inParts(
    tokens,
    (token) => [token],
    (some) =>
      earlier.database.rows<{ token: string; name: string }>(
        `SELECT token, argMax(d.denom, d.ord) AS name FROM ${earlier.tables.of('denoms')} AS d WHERE token IN {tokens:Array(String)} GROUP BY token`,
        { tokens: some },
        options('earlier_names'),
      ),
  );
  return new Map(rows.map(({ token, name }) => [token, name]));
}

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
 * give nothing. What is given at once is about as much as is read at once.
 */
export function createEarlierHeals(
  earlier: () => Reader | undefined,
): (blocks: readonly DecodedBlock[]) => Promise<EarlierHeals> {
  let window: Window | undefined;
  return async (blocks) => {
    const found = new Map<number, readonly Healed[]>();
    let [size, count] = [0, blocks.length];
    const reader = earlier();
    if (reader === undefined) {
      window = undefined;
      return { heals: found, count };
    }
    for (const [index, { height }] of blocks.entries()) {
      if (window?.revision !== reader.head.revision) window = undefined;
      if (window === undefined || window.upTo < height) {
        if (reader.head.position.height < height) break;
        window = await readWindow(reader, height);
      }
      const heals = window.byHeight.get(height);
      if (heals === undefined) continue;
      size += heals.length;
      if (found.size > 0 && size > healsAtOnce) {
        count = index;
        break;
      }
      found.set(height, heals);
    }
    return { heals: found.size === 0 ? found : await ofSameBlocks(reader, blocks, found), count };
  };
}

async function readWindow({ database, tables, head }: Reader, from: number): Promise<Window> {
  const { revision, position } = head;
  const rows = await database.rows<Holding & { at: number; ord: number; balance: string }>(
    `SELECT token, account, c.height AS at, c.ord AS ord, toString(c.amount) AS balance FROM ${tables.of('changes')} AS c WHERE source = 'heal' AND c.height >= {from:UInt64} AND c.ord <= {last_ord:UInt64} ORDER BY c.height LIMIT {limit:UInt64} WITH TIES`,
    { from, last_ord: position.last_ord, limit: healsAtOnce },
    { name: 'richlist.earlier_heals', priority: 'write' },
  );
  const heals = rows
    .sort((a, b) => a.ord - b.ord)
    .map(({ token, account, at, balance }) => ({ token, account, at, amount: BigInt(balance) }));
  const byHeight = groupBy(heals, ({ at }) => at);
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
