import { inParts } from '../../common/clickhouse/keys.js';
import type { Seed, SeedBalance } from '../node/seed.js';
import type { Reader } from '../read/reader.js';
import type { Holding } from '../store/balance.js';

/*
 * What tables that are rebuilt take over from those in use, because only the node could tell
 * it and may have pruned the state since: the state to begin with, and the names of tokens.
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
