import type { Happening, NftBlock, NftEvent } from '../../services/nft/decode/types.js';
import { type Random, randomFrom } from './random.js';

/** Accounts of random blocks, one of them busy. */
export const owners = Array.from({ length: 5 }, (_, index) => `${index + 1}`.padStart(40, 'a'));
/** Contracts; the last one never has a name, and the one before gets its name late. */
export const contracts = Array.from({ length: 5 }, (_, index) => `c${index}`.padEnd(40, '0'));
export const nameless = contracts[4] as string;
/** Ids of every sort: numbers around the limits, leading zeros, any bytes. */
export const ids = [
  ...['0', '1', '2', '9', '10', '00', '01', '-1', '1e3', 'a', 'A', 'nul\0id', '漢字', '🐈', 'a/b', '%41', ''],
  ...[String(2n ** 256n - 1n), String(2n ** 256n), '9'.repeat(77), 'x'.repeat(300)],
];

/** A token as the model has it. */
export interface ModelToken {
  readonly collection: string;
  readonly token_id: string;
  owner: string;
  uri: string;
  height: number;
  timestamp: string;
  burnt: boolean;
  /** Hashes of its txs, oldest first. */
  readonly txs: string[];
}

/** Everything that a chain of blocks leads to, worked out the plain way. */
export interface ModelState {
  readonly tokens: Map<string, ModelToken>;
  /** Place of birth of each contract with tokens, as height and index. */
  readonly births: Map<string, readonly [number, number]>;
}

/** Makes a random chain of NFT events, block by block, as Wasm contracts emit them. */
export function randomNfts(seed: number): { next(parent: NftBlock | undefined): NftBlock } {
  const random = randomFrom(seed);
  let made = 0;
  return {
    next(parent) {
      made += 1;
      const height = (parent?.height ?? 0) + 1;
      const events: NftEvent[] = [];
      for (let tx = random.integer(4); tx > 0; tx--) {
        const hash = Buffer.from(`${seed}.${made}.${tx}`).toString('hex').padEnd(64, '0');
        for (let n = random.integer(6); n > 0; n--) {
          const happening = randomHappening(random);
          events.push({ ...happening, tx: { hash, signer: owners[0] as string }, index: events.length });
        }
      }
      return {
        height,
        hash: Buffer.from(`${seed}.${made}`).toString('hex').padEnd(64, '0').toUpperCase(),
        parent_hash: parent?.hash ?? '',
        timestamp: `2026-11-21T09:20:10.${String(made).padStart(9, '0')}Z`,
        events,
        problems: [],
      };
    },
  };
}

function randomHappening(random: Random): Happening {
  const collection = random.pick(contracts);
  const token = { collection, token_id: random.pick(ids) };
  const owner = random.oneIn(12)
    ? '?somebody else'
    : random.oneIn(2)
      ? (owners[0] as string)
      : random.pick(owners);
  switch (random.integer(10)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return { what: 'mint', token, owner, ...(random.oneIn(2) ? { uri: `u${random.integer(99)}` } : {}) };
    case 4:
    case 5:
    case 6:
      return { what: 'transfer', token, owner };
    case 7:
    case 8:
      return { what: 'burn', token };
    default:
      return { what: 'uri', token, uri: `v${random.integer(99)}` };
  }
}

/** Applies blocks one event after the other. */
export function modelOf(blocks: readonly NftBlock[]): ModelState {
  const state: ModelState = { tokens: new Map(), births: new Map() };
  for (const { height, timestamp, events } of blocks)
    for (const event of events) apply(state, event, height, timestamp);
  return state;
}

function apply(state: ModelState, event: NftEvent, height: number, timestamp: string): void {
  if (!('token' in event) || event.token.collection === undefined) return;
  const { collection, token_id } = event.token;
  const key = `${collection}/${token_id}`;
  const token = state.tokens.get(key);
  const isThere = token !== undefined && !token.burnt;
  if (!isThere && (event.what === 'burn' || event.what === 'uri')) return;
  const next: ModelToken = token ?? {
    ...{ collection, token_id, owner: '', uri: '', height, timestamp, burnt: false, txs: [] },
  };
  if (event.what === 'mint' || (event.what === 'transfer' && !isThere)) {
    next.uri = event.what === 'mint' ? (event.uri ?? '') : '';
    if (!state.births.has(collection)) state.births.set(collection, [height, event.index]);
  }
  if (event.what === 'uri') next.uri = event.uri ?? next.uri;
  next.owner = 'owner' in event ? event.owner : event.what === 'burn' ? '' : next.owner;
  next.burnt = event.what === 'burn';
  next.height = height;
  next.timestamp = timestamp;
  if (next.txs.at(-1) !== event.tx.hash) next.txs.push(event.tx.hash);
  state.tokens.set(key, next);
}
