import { createHash } from 'node:crypto';
import { bech32 } from '@scure/base';
import { getAddress, keccak256 } from 'ethers';
import { mulberry32 } from '../faults.js';
import { compressed, coordinates, type Point, publicKeys } from './keys.js';

/** What a generated chain is made of. The same options give the same chain, byte for byte. */
export interface GenerateOptions {
  /** default 20,000 */
  blocks?: number;
  /** default 5 */
  txs_per_block?: number;
  /** default 1 */
  seed?: number;
  /** how many accounts there are; a few are busy, most are rare (default 20,000) */
  accounts?: number;
  /** ERC-20 tokens besides the native one (default 5) */
  tokens?: number;
  /** ERC-721 collections (default 20) */
  collections?: number;
  /** distance of block times (default 1000) */
  block_time_ms?: number;
}

/** The options with their defaults, and what depends on nothing else. */
export interface World {
  options: Required<GenerateOptions>;
  account(index: number): Account;
  tokens: Contract[];
  collections: Contract[];
  /** cumulative weights of the accounts */
  weights: Float64Array;
}

/** An account with a real key, so that address and public key fit. */
export interface Account {
  /** 20 bytes, lower-case hex without 0x */
  hex: string;
  /** the same with the checksum's capitals */
  checksummed: string;
  bech32: string;
  /** compressed public key, as binary string and base64 */
  key: string;
  key64: string;
}

/** An address of a contract, hex without 0x, in both spellings. */
export interface Contract {
  hex: string;
  checksummed: string;
}

/** Kinds of txs, each with a recorded one as its template. */
export type Kind =
  | 'send'
  | 'send_failed'
  | 'erc20'
  | 'cosmos_call'
  | 'native'
  | 'mint'
  | 'nft_transfer'
  | 'call_failed';

/** What one tx does. */
export interface Plan {
  /** position of the tx in the whole chain, from 0 */
  index: number;
  kind: Kind;
  signer: Account;
  other: Account;
  /** amount of a transfer, or the number of a token */
  value: bigint;
  contract: Contract;
}

/** The order of kinds, repeated: 20 txs with 3 mints, and a transfer of the first of them. */
const cycle: Kind[] = [
  ...([
    'erc20',
    'erc20',
    'native',
    'mint',
    'erc20',
    'send',
    'erc20',
    'native',
    'nft_transfer',
    'mint',
  ] as const),
  ...([
    'erc20',
    'send',
    'erc20',
    'send_failed',
    'cosmos_call',
    'mint',
    'erc20',
    'native',
    'erc20',
    'call_failed',
  ] as const),
];
const mintsPerCycle = cycle.filter((k) => k === 'mint').length;
const firstMint = cycle.indexOf('mint');

/** Prepares accounts and contracts. `templates` are the recorded addresses that tokens and collections start with. */
export function makeWorld(options: GenerateOptions, templates: { token: string; collection: string }): World {
  const full = {
    blocks: options.blocks ?? 20_000,
    txs_per_block: options.txs_per_block ?? 5,
    seed: options.seed ?? 1,
    accounts: Math.max(2, options.accounts ?? 20_000),
    tokens: Math.max(1, options.tokens ?? 5),
    collections: Math.max(1, options.collections ?? 20),
    block_time_ms: options.block_time_ms ?? 1000,
  };
  const keys = publicKeys(digest(`${full.seed}/accounts`), full.accounts);
  const accounts = new Map<number, Account>();
  const contracts = (first: string, name: string, count: number): Contract[] =>
    Array.from({ length: count }, (_, i) => {
      const hex = i === 0 ? first.toLowerCase() : digest(`${full.seed}/${name}/${i}`).slice(0, 40);
      return { hex, checksummed: getAddress(`0x${hex}`).slice(2) };
    });
  return {
    options: full,
    account(index) {
      const account = accounts.get(index) ?? makeAccount(keys[index]!);
      accounts.set(index, account);
      return account;
    },
    tokens: contracts(templates.token, 'token', full.tokens),
    collections: contracts(templates.collection, 'collection', full.collections),
    weights: zipf(full.accounts),
  };
}

/** What the tx at a position of the chain does: a pure function of the options and the position. */
export function planOf(world: World, index: number): Plan {
  const kind = cycle[index % cycle.length]!;
  const random = randomAt(world.options.seed, index);
  let signer = pick(world, random());
  let other = pick(world, random());
  const fraction = random();
  const choice = random();
  if (kind === 'nft_transfer') {
    // the first token of this cycle goes on from whom it was minted to
    const minted = planOf(world, index - (index % cycle.length) + firstMint);
    signer = minted.other;
    if (other.hex === signer.hex) other = nextOf(world, signer);
    return { ...minted, index, kind, signer, other };
  }
  if (other.hex === signer.hex) other = nextOf(world, signer);
  const contract = kind === 'mint' ? oneOf(world.collections, choice) : oneOf(world.tokens, choice);
  return { index, kind, signer, other, value: amountOf(kind, index, fraction), contract };
}

/** Number of the first tx of a height, and how many it has. */
export function txsOf(world: World, height: number): { from: number; count: number } {
  const count = world.options.txs_per_block;
  return { from: (height - 1) * count, count };
}

/** The uri of a token, as long as the recorded one. */
export function tokenUri(id: bigint): string {
  return `https://x.co/art/${String(id).padStart(8, '0')}.json`;
}

/** Lower-case hex SHA-256. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function amountOf(kind: Kind, index: number, fraction: number): bigint {
  if (kind === 'mint') {
    const before = cycle.slice(0, index % cycle.length).filter((k) => k === 'mint').length;
    return BigInt(Math.floor(index / cycle.length) * mintsPerCycle + before + 1);
  }
  // as many decimal digits as the recorded amounts, since their length is part of the raw tx
  if (kind === 'native') return BigInt(1000 + Math.floor(fraction * 9000));
  if (kind === 'send') return 10n ** 18n + BigInt(Math.floor(fraction * 2 ** 50)) * 7000n;
  return BigInt(1 + Math.floor(fraction * 2 ** 40));
}

function makeAccount(point: Point): Account {
  const hex = keccak256(coordinates(point)).slice(-40);
  const key = compressed(point);
  return {
    hex,
    checksummed: getAddress(`0x${hex}`).slice(2),
    bech32: bech32.encode('init', bech32.toWords(Buffer.from(hex, 'hex'))),
    key: key.toString('latin1'),
    key64: key.toString('base64'),
  };
}

/** Cumulative weights 1, 1/2, 1/3, ...: the usual shape of who uses a chain how often. */
function zipf(count: number): Float64Array {
  const weights = new Float64Array(count);
  let sum = 0;
  for (let i = 0; i < count; i++) {
    sum += 1 / (i + 1);
    weights[i] = sum;
  }
  return weights;
}

function pick(world: World, fraction: number): Account {
  const { weights } = world;
  const wanted = fraction * weights[weights.length - 1]!;
  let low = 0;
  let high = weights.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (weights[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return world.account(low);
}

/** Some account other than the given one. */
function nextOf(world: World, account: Account): Account {
  return world.account(0).hex === account.hex ? world.account(1) : world.account(0);
}

function oneOf<T>(list: T[], fraction: number): T {
  return list[Math.floor(fraction * list.length)]!;
}

function randomAt(seed: number, index: number): () => number {
  // spread neighbouring positions over the generator's state
  return mulberry32(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35));
}
