import type { Database } from '../../common/clickhouse/database.js';
import { type Balance, type Holding, type HoldingKey, holdingKey } from './balance.js';
import type { Position } from './cursor.js';
import type { Tables } from './tables.js';

/** What the node says of a holding after a block. */
export interface Compared extends Holding {
  readonly height: number;
  readonly amount: bigint;
}

/** What a balance is set to; the amount may lie outside of what a balance can be. */
export interface Heal extends Holding {
  readonly amount: bigint;
  readonly before: Balance | undefined;
}

/**
 * The balances that have to be set right, and to what: the node's answer, moved by what has
 * changed here since the height that it is for.
 *
 * @param current the balances as they are now, of those holdings that ever changed.
 */
export async function healsOf(
  database: Database,
  tables: Tables,
  compared: readonly Compared[],
  current: ReadonlyMap<HoldingKey, Balance>,
  position: Position,
): Promise<Heal[]> {
  const heals: Heal[] = [];
  for (const { token, account, height, amount } of compared) {
    if (height > position.height) continue; // it is asked again when the blocks are there
    const now = current.get(holdingKey(token, account));
    const amountNow = now?.amount ?? 0n;
    const then =
      now === undefined || now.height <= height
        ? amountNow
        : await amountAt(database, tables, token, account, height, position.last_ord);
    if (then !== amount) heals.push({ token, account, amount: amountNow + amount - then, before: now });
  }
  return heals;
}

/** The balance of a holding after a block: one short read, however often it changed. */
async function amountAt(
  database: Database,
  tables: Tables,
  token: string,
  account: string,
  height: number,
  last_ord: number,
): Promise<bigint> {
  const [row] = await database.rows<{ balance: string }>(
    `SELECT toString(c.amount) AS balance FROM ${tables.of('changes')} AS c WHERE token = {token:String} AND account = {account:String} AND c.ord <= {last_ord:UInt64} AND c.height <= {height:UInt64} ORDER BY token DESC, account DESC, c.ord DESC LIMIT 1`,
    { token, account, height, last_ord },
    { name: 'richlist.balance_at', priority: 'write' },
  );
  return BigInt(row?.balance ?? '0');
}
