import type { Database } from '../../common/clickhouse/database.js';
import { UserError } from '../../common/errors.js';
import type { Tables } from './tables.js';

/**
 * Ties the tables to a chain, or checks that they are tied to it.
 *
 * @throws UserError when they hold another chain.
 */
export async function claimChain(
  database: Database,
  tables: Tables,
  chain_id: string,
  vm_type: string,
): Promise<void> {
  const options = { name: 'nft.claim' };
  const [known] = await database.rows<{ chain_id: string; vm_type: string }>(
    `SELECT chain_id, vm_type FROM ${tables.of('chain')} LIMIT 1`,
    {},
    options,
  );
  if (known === undefined) {
    await database.insert(tables.of('chain'), JSON.stringify({ chain_id, vm_type }), options);
  } else if (known.chain_id !== chain_id || known.vm_type !== vm_type) {
    throw new UserError(
      `the NFTs are of chain ${known.chain_id} (${known.vm_type}), but the block service follows ${chain_id} (${vm_type}): use another DATA_DIR or CLICKHOUSE_DATABASE`,
    );
  }
}
