import type { Owner } from '../decode/types.js';
import type { Birth, Change, ChangeKind, Origin, TokenState } from './types.js';

/** What is asked of a token by an event, before it is known what it changes. */
export interface TokenStep {
  readonly kind: ChangeKind;
  readonly owner?: Owner | undefined;
  readonly uri?: string | undefined;
  readonly object?: string | undefined;
  readonly at: number;
  readonly tx_hash: string;
  readonly timestamp: string;
  /** Whether the tx belongs to the token's list of txs. */
  readonly listed: boolean;
}

/**
 * How a token is after a step; undefined when the step changes nothing: a burn of what is not
 * there, a new uri of what is not there, a tx that is listed already.
 *
 * A second mint moves the token, and a transfer of an unknown or a burnt one creates it: the
 * index may have begun later than the token, and contracts may emit what they like.
 */
export function step(before: TokenState | undefined, what: TokenStep): TokenState | undefined {
  const exists = before !== undefined && !before.burnt;
  const isNewTx = what.listed && what.tx_hash !== before?.last_tx;
  if (
    what.kind === 'named' ? before === undefined || !isNewTx : !exists && ['burn', 'uri'].includes(what.kind)
  )
    return undefined;
  const base = {
    object: what.object ?? before?.object ?? '',
    tx_count: (before?.tx_count ?? 0) + (isNewTx ? 1 : 0),
    last_tx: isNewTx ? what.tx_hash : (before?.last_tx ?? ''),
    at: what.at,
  };
  const changed = { ...base, height: heightOf(what.at), timestamp: what.timestamp };
  const isNew = what.kind === 'mint' || (what.kind === 'transfer' && !exists);
  if (isNew) {
    const [owner, uri] = [what.owner ?? '', what.uri ?? ''];
    return { ...changed, owner, uri, burnt: false, minted_at: what.at };
  }
  const { owner = '', uri = '', burnt = false, minted_at = 0 } = before ?? {};
  switch (what.kind) {
    case 'burn':
      return { ...changed, owner: '', uri, burnt: true, minted_at };
    case 'uri':
      return { ...changed, owner, uri: what.uri ?? uri, burnt, minted_at };
    case 'named':
      return { ...(before as TokenState), ...base };
    default:
      return { ...changed, owner: what.owner ?? '', uri, burnt, minted_at };
  }
}

/** The change that led from one state to another. */
export function changeOf(
  collection: string,
  id_key: string,
  before: TokenState | undefined,
  after: TokenState,
  what: TokenStep,
): Change {
  return {
    at: what.at,
    collection,
    id_key,
    kind: what.kind,
    previous_owner: before?.owner ?? '',
    owner: after.owner,
    uri: after.uri,
    object: after.object,
    ord: after.tx_count,
    listed: what.listed,
    tx_hash: what.tx_hash,
    timestamp: what.timestamp,
  };
}

/** What is known with one row more, which must be the newest. */
export function withBirth(origin: Origin | undefined, row: Birth): Origin | undefined {
  if (row.kind === 'renamed')
    return origin === undefined ? undefined : { ...origin, name: row.name, at: row.at };
  if (origin?.certain || (origin !== undefined && row.kind === 'seen')) return origin;
  const { born_at, creator, name, timestamp, at } = row;
  return {
    certain: row.kind === 'certain',
    born_at,
    creator,
    name,
    timestamp,
    at,
    told_at: origin?.told_at ?? at,
  };
}

/** How many places a block has; one with more events than that does not fit into a block. */
const placesOfBlock = 2 ** 21;

/** The place of an event in the chain: one number, so that rows compare and are removed by it. */
export function placeOf(height: number, index: number): number {
  return height * placesOfBlock + Math.min(index, placesOfBlock - 1);
}

/** The block of a place. */
export const heightOf = (at: number): number => Math.floor(at / placesOfBlock);

/** The last place of a block: nothing up to that height lies above it. */
export const endOf = (height: number): number => placeOf(height, placesOfBlock - 1);
