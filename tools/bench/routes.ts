import { mulberry32 } from '../replay/faults.js';

/** Things to ask for, taken from the generated chain. */
export interface Samples {
  /** Cosmos hashes, upper-case hex. */
  readonly hashes: readonly string[];
  /** Ethereum hashes with 0x. */
  readonly ethHashes: readonly string[];
  /** Accounts as they come: few busy ones, many rare. */
  readonly accounts: readonly string[];
  /** The busiest account. */
  readonly busiest: string;
  readonly heights: readonly number[];
  readonly total: number;
}

/** A route to measure: its name and its next request. */
export interface BenchRoute {
  readonly name: string;
  readonly nextPath: () => string;
}

/** Every route, with requests that differ each time, so that no answer repeats before long. */
export function benchRoutes(samples: Samples, seed = 1): BenchRoute[] {
  const random = mulberry32(seed);
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const offset = (): number => Math.floor(random() * Math.max(1, samples.total - 200));
  const [tx, block] = ['/indexer/tx/v1', '/indexer/block/v1'];
  return [
    { name: 'status', nextPath: () => '/status' },
    { name: 'avg_blocktime', nextPath: () => `${block}/avg_blocktime` },
    { name: 'block by height', nextPath: () => `${block}/blocks/${one(samples.heights)}` },
    {
      name: 'blocks, 100 anywhere',
      nextPath: () =>
        `${block}/blocks?pagination.offset=${Math.floor(random() * Math.max(1, samples.heights.length - 100))}`,
    },
    { name: 'tx by hash', nextPath: () => `${tx}/txs/${one(samples.hashes)}` },
    { name: 'txs, newest 100', nextPath: () => `${tx}/txs` },
    { name: 'txs, 100 anywhere', nextPath: () => `${tx}/txs?pagination.offset=${offset()}` },
    { name: 'txs by height', nextPath: () => `${tx}/txs/by_height/${one(samples.heights)}` },
    {
      name: 'txs of a message type',
      nextPath: () => `${tx}/txs?msgs=minievm.evm.v1.MsgCall&pagination.limit=20`,
    },
    {
      name: 'account, newest 10',
      nextPath: () => `${tx}/txs/by_account/${one(samples.accounts)}?pagination.limit=10`,
    },
    { name: 'busiest account, newest 100', nextPath: () => `${tx}/txs/by_account/${samples.busiest}` },
    {
      name: 'busiest account, signed, 10',
      nextPath: () => `${tx}/txs/by_account/${samples.busiest}?is_signer=true&pagination.limit=10`,
    },
    { name: 'evm tx by hash', nextPath: () => `${tx}/evm-txs/${one(samples.ethHashes)}` },
    { name: 'evm txs, newest 100', nextPath: () => `${tx}/evm-txs` },
    {
      name: 'evm txs of an account',
      nextPath: () => `${tx}/evm-txs/by_account/${one(samples.accounts)}?pagination.limit=10`,
    },
    { name: 'internal txs of a tx', nextPath: () => `${tx}/evm-internal-txs/${one(samples.ethHashes)}` },
    {
      name: 'internal txs of an account',
      nextPath: () => `${tx}/evm-internal-txs/by_account/${one(samples.accounts)}?pagination.limit=10`,
    },
  ];
}

/** The name of `mixedRoute`. */
export const mixName = 'mix of tx by hash, account page, list page';

/** One request again and again. */
export const oneUrl = ({ hashes }: Samples): BenchRoute => ({
  name: 'one tx again and again',
  nextPath: () => `/indexer/tx/v1/txs/${hashes[0]}`,
});

/** What wallets and explorers ask for most, mixed evenly: a tx, an account's page, a list page. */
export function mixedRoute(samples: Samples, seed = 2): BenchRoute {
  const random = mulberry32(seed);
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const tx = '/indexer/tx/v1';
  const kinds = [
    () => `${tx}/txs/${one(samples.hashes)}`,
    () => `${tx}/txs/by_account/${one(samples.accounts)}?pagination.limit=10`,
    () =>
      `${tx}/txs?pagination.limit=20&pagination.offset=${Math.floor(random() * Math.max(1, samples.total - 20))}`,
  ];
  return { name: mixName, nextPath: () => one(kinds)() };
}
