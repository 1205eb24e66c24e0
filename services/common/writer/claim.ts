import type { Database } from '../clickhouse/database.js';
import { UserError } from '../runtime/errors.js';

/** A service's tables, to be tied to a chain. */
export interface Claim {
  readonly database: Database;
  /** The table that says which chain it is, qualified. */
  readonly table: string;
  /** What the tables hold, with a verb: `the txs are`. */
  readonly what: string;
  /** Who says which chain it is, with a verb. Default: the block service. */
  readonly who?: string;
  /** Of the statements in metrics. */
  readonly name: string;
}

/**
 * Ties tables to a chain, or checks that they are tied to it: blocks of another chain would
 * look like a rollback to its very beginning.
 *
 * @throws UserError when they hold another chain.
 */
export async function claimChain(
  { database, table, what, who = 'the block service follows', name }: Claim,
  chain_id: string,
  vm_type: string,
): Promise<void> {
  const [known] = await database.rows<{ chain_id: string; vm_type: string }>(
    `SELECT chain_id, vm_type FROM ${table} LIMIT 1`,
    {},
    { name },
  );
  if (known === undefined) {
    await database.insert(`${table} (chain_id, vm_type)`, JSON.stringify({ chain_id, vm_type }), { name });
  } else if (known.chain_id !== chain_id || known.vm_type !== vm_type) {
    throw new UserError(
      `${what} of chain ${known.chain_id} (${known.vm_type}), but ${who} ${chain_id} (${vm_type}): use another DATA_DIR or CLICKHOUSE_DATABASE`,
    );
  }
}
