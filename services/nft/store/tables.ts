import { namesOf, type TableNames } from '../../common/clickhouse/database.js';
import type { Target } from '../../common/clickhouse/migrate.js';
import type { Conditions } from '../../common/clickhouse/remove.js';
import { asColumns, type HeadTable, ofService } from '../../common/writer/head-table.js';
import { readDefinition, type ViewSet } from '../../common/writer/views.js';
import { type Position, readPosition } from './cursor.js';

/** Append-only tables: what happened, in the order of the chain, and what the node said. */
export type FactName =
  | 'blocks'
  | 'changes'
  | 'history'
  | 'account_history'
  | 'objects'
  | 'contracts'
  | 'births'
  | 'classes'
  | 'asks'
  | 'token_uris'
  | 'collection_names';

/** What follows from the facts, see views.ts. */
export type ViewName =
  | 'token_states'
  | 'token_lists'
  | 'token_counts'
  | 'shown_collections'
  | 'collection_list';

/** What is to be asked of the node. */
export type QueueName = 'asked' | 'jobs';

/** Tables that earlier versions wrote, and that an upgrade reads. */
export type EarlierName = 'cuts' | 'collections' | 'uris';

/** The tables of the schema folder. */
export type TableName = FactName | ViewName | QueueName | EarlierName | 'chain' | 'head';

/** Their names in statements. */
export type Tables = TableNames<TableName>;

/** Their names in the statements for a target. */
export const tablesOf = (target: Target): Tables => namesOf(target);

/** How far they are. */
export const headOf = (tables: Tables): HeadTable<Position> => ({
  ...ofService('nft', tables),
  ...asColumns<Position>(['height', 'hash', 'details']),
  positionAt: (database, height, call, newest) =>
    readPosition(database, tables, height, newest?.details ?? 0, call),
});

/** The lists of tokens, by token id and by height. */
export type ListName =
  | 'collection'
  | 'owner'
  | 'holding'
  | 'collection_height'
  | 'owner_height'
  | 'holding_height';

/** The scope of what an owner has in a collection. */
export const holdingOf = (owner: string, collection: string): string => `${owner}/${collection}`;

/** Whether an owner is an account: others have no lists. */
export const isAccount = (owner: string): boolean => owner !== '' && !owner.startsWith('?');

/** Positions above the head: a position is the height times 2^21, and the index in the block. */
const aboveHead = '>= ({height:UInt64} + 1) * 2097152';

const ofPosition = `at ${aboveHead}`;
const ofDetails = `${ofPosition} OR version > {details:UInt64}`;

/** The facts above the head, table by table; those that views follow from come last. */
export const factsAbove: Conditions<TableName> = [
  ['blocks', 'height > {height:UInt64}'],
  ['changes', ofPosition],
  ['objects', ofPosition],
  ['contracts', ofPosition],
  ['classes', ofPosition],
  ['asks', ofPosition],
  ['jobs', ofPosition],
  ['token_uris', ofDetails],
  ['births', ofPosition],
  ['collection_names', ofDetails],
  ['account_history', ofPosition],
  ['history', ofPosition],
];

const view = (table: ViewName) => ({ table, definition: readDefinition('nft', table) });

/** A view of collections: it follows from births and from names, so either tells which rows a repair has to look at. */
const shownCollections = {
  ...view('shown_collections'),
  key: ['collection'],
  values: ['born_at', 'creator', 'name', 'origin_name', 'timestamp'],
  facts: ['collection'],
} as const;

const collectionList = {
  ...view('collection_list'),
  key: ['born_at', 'collection'],
  values: ['folded_name', 'folded_origin'],
  facts: ['collection'],
} as const;

/** Everything that follows from the facts of NFTs, by the facts that it follows from. */
export const nftViews: readonly ViewSet<TableName>[] = [
  {
    facts: 'births',
    above: `f.at ${aboveHead}`,
    views: [
      {
        ...shownCollections,
        touched: 'SELECT DISTINCT f.collection AS collection FROM {{births}} AS f WHERE {{where}}',
      },
      {
        ...collectionList,
        touched: `SELECT DISTINCT f.born_at AS born_at, f.collection AS collection
          FROM {{births}} AS f
          WHERE f.kind != 'renamed' AND {{where}}`,
      },
    ],
  },
  {
    facts: 'collection_names',
    above: `(f.at ${aboveHead} OR f.version > {details:UInt64})`,
    views: [
      {
        ...shownCollections,
        touched: 'SELECT DISTINCT f.collection AS collection FROM {{collection_names}} AS f WHERE {{where}}',
      },
      {
        ...collectionList,
        touched: `SELECT DISTINCT b.born_at AS born_at, b.collection AS collection
          FROM {{births}} AS b
          WHERE b.collection GLOBAL IN (
            SELECT f.collection AS collection FROM {{collection_names}} AS f WHERE {{where}}
          )`,
      },
    ],
  },
  {
    facts: 'account_history',
    above: `f.at ${aboveHead}`,
    views: [
      {
        ...view('token_counts'),
        key: ['account', 'collection'],
        values: ['token_count'],
        touched: `SELECT DISTINCT f.account AS account, f.collection AS collection
          FROM {{account_history}} AS f
          WHERE {{where}}`,
        facts: ['account', 'collection'],
      },
    ],
  },
  {
    facts: 'history',
    above: `f.at ${aboveHead}`,
    views: [
      {
        ...view('token_states'),
        key: ['collection', 'id_key'],
        values: [
          ...['object', 'owner', 'uri', 'burnt', 'minted_at', 'height', 'timestamp', 'tx_count', 'last_tx'],
          'at',
        ],
        touched: `SELECT DISTINCT f.collection AS collection, f.id_key AS id_key
          FROM {{history}} AS f
          WHERE {{where}}`,
        facts: ['collection', 'id_key'],
      },
      {
        ...view('token_lists'),
        key: ['list', 'scope', 'height', 'id_key', 'collection'],
        values: [],
        // Every entry that one of the changes may have made.
        touched: `SELECT DISTINCT
            tupleElement(entry, 1) AS list,
            tupleElement(entry, 2) AS scope,
            tupleElement(entry, 3) AS height,
            id_key,
            collection
          FROM (
            SELECT
              f.id_key AS id_key,
              f.collection AS collection,
              intDiv(f.at, 2097152) AS changed,
              arrayJoin([
                ('collection', f.collection, toUInt64(0)),
                ('collection_height', f.collection, changed),
                ('owner', f.owner, toUInt64(0)),
                ('owner_height', f.owner, changed),
                ('holding', concat(f.owner, '/', f.collection), toUInt64(0)),
                ('holding_height', concat(f.owner, '/', f.collection), changed)
              ]) AS entry
            FROM {{history}} AS f
            WHERE f.kind NOT IN ('named', 'burn') AND {{where}}
          )`,
        facts: ['collection', 'id_key'],
      },
    ],
  },
];
