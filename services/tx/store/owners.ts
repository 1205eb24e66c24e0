import type { AccountKey } from '../../common/chain/address.js';
import type { Database } from '../../common/clickhouse/database.js';
import { messageOf } from '../../common/runtime/errors.js';
import type { Log } from '../../common/runtime/log.js';
import { createLru } from '../../common/util/lru.js';
import type { DecodedBlock } from '../decode/types.js';
import type { Tables } from './tables.js';

/** Asks the node who owns stores that were created before the first indexed block. */
export type ResolveStores = (stores: readonly AccountKey[]) => Promise<ReadonlyMap<AccountKey, AccountKey>>;

/** A store's owner as it is stored. */
export interface StoreRow {
  readonly store: AccountKey;
  readonly owner: AccountKey;
  /** Block where it was learnt. */
  readonly height: number;
}

/** Who owns the stores that a part of a batch names. */
export interface OwnersOfPart {
  readonly of: ReadonlyMap<AccountKey, AccountKey>;
  /** What the node has told: it is to be stored. */
  readonly learnt: readonly StoreRow[];
}

/** Owners of Move stores, for the one writer. */
export interface Owners {
  /**
   * Finds the owners of stores. Where the node does not know very many of them, it is asked for the first ones.
   *
   * @param created by the batch.
   * @param height of the batch's last block: where it counts as learnt what the node tells.
   */
  find(
    stores: ReadonlySet<AccountKey>,
    created: ReadonlyMap<AccountKey, AccountKey>,
    height: number,
  ): Promise<OwnersOfPart>;
  clear(): void;
}

/** The stores that blocks create, as they are stored. */
export const storesOf = (blocks: readonly DecodedBlock[]): StoreRow[] =>
  blocks.flatMap(({ height, stores }) => stores.map(({ store, owner }) => ({ store, owner, height })));

/** How long the node may take, and how long a store that it does not know is not asked for again. */
const [patience_ms, unknownFor_ms] = [30_000, 60_000];
const remembered = 100_000;
const storesAtOnce = 500;

/** Stores that the node is asked for at once: a tx can name as many as it likes that are none. */
const askedAtOnce = 1_000;

/** The owners of stores that tables know. */
export async function readOwners(
  database: Database,
  tables: Tables,
  stores: readonly AccountKey[],
): Promise<Map<AccountKey, AccountKey>> {
  const owners = new Map<AccountKey, AccountKey>();
  for (let start = 0; start < stores.length; start += storesAtOnce) {
    const rows = await database.rows<StoreRow>(
      `SELECT store, any(s.owner) AS owner FROM ${tables.of('stores')} AS s WHERE store IN {stores:Array(String)} GROUP BY store`,
      { stores: stores.slice(start, start + storesAtOnce) },
      { name: 'tx.store_owners', priority: 'write' },
    );
    for (const { store, owner } of rows) owners.set(store, owner);
  }
  return owners;
}

/**
 * Finds owners in the batch itself, then in memory, then in the table, then at the node. A
 * store whose owner nobody knows counts by its own address alone: that must not stop the
 * indexer.
 */
export function createOwners(
  database: Database,
  tables: Tables,
  log: Log,
  resolve: ResolveStores = async () => new Map(),
): Owners {
  const known = createLru<AccountKey, AccountKey>(remembered);
  const unknown = createLru<AccountKey, true>(remembered, { ttl: unknownFor_ms });

  const askNode = async (stores: readonly AccountKey[]): Promise<ReadonlyMap<AccountKey, AccountKey>> => {
    let timer: NodeJS.Timeout | undefined;
    try {
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error('no answer in time')), patience_ms);
      });
      return await Promise.race([resolve(stores), late]);
    } catch (error) {
      log.warn(
        { err: error, stores: stores.length },
        `owners of stores could not be asked for: ${messageOf(error)}`,
      );
      return new Map();
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    async find(named, created, height) {
      const of = new Map<AccountKey, AccountKey>();
      const learnt: StoreRow[] = [];
      const unread: AccountKey[] = [];
      for (const store of named) {
        const owner = created.get(store) ?? known.get(store);
        if (owner !== undefined) of.set(store, owner);
        else unread.push(store);
      }
      for (const [store, owner] of await readOwners(database, tables, unread)) of.set(store, owner);
      const unanswered = unread
        .filter((store) => !of.has(store) && !unknown.has(store))
        .slice(0, askedAtOnce);
      const answers = unanswered.length === 0 ? new Map<string, string>() : await askNode(unanswered);
      for (const store of unanswered) {
        const owner = answers.get(store);
        if (owner === undefined) {
          unknown.set(store, true);
          continue;
        }
        of.set(store, owner);
        learnt.push({ store, owner, height });
      }
      for (const store of named) {
        const owner = of.get(store);
        if (owner !== undefined) known.set(store, owner);
      }
      return { of, learnt };
    },
    clear() {
      known.clear();
      unknown.clear();
    },
  };
}
