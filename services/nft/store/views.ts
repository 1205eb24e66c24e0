import type { Conditions } from '../../common/clickhouse/remove.js';
import { readDefinition, type ViewSet } from '../../common/writer/views.js';
import type { TableName, ViewName } from './tables.js';

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
