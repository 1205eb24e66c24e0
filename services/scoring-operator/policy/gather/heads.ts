import { type Clock, createClock } from '../measure.js';
import type { Policy, Rule } from '../policy.js';
import type { ScoreWindow } from '../result.js';
import { ask, type FactClients } from './clients.js';

/** The services that a policy's rules read. */
export type FactService = 'tx' | 'richlist' | 'nft';

/** How far a service is. */
export interface ServiceHead {
  readonly service: FactService | 'block';
  readonly height: number;
  /** Hash of that block as the service has it; '' when there is none. */
  readonly hash: string;
}

/** The services that a policy needs. */
export function servicesOf({ rules }: Policy): FactService[] {
  const needed = rules.map(serviceOf).filter((service) => service !== undefined);
  return [...new Set(needed)].sort();
}

function serviceOf({ kind }: Rule): FactService | undefined {
  switch (kind) {
    case 'transactions':
    case 'gas_used':
    case 'calls':
      return 'tx';
    case 'volume':
    case 'holdings':
      return 'richlist';
    case 'nfts':
      return 'nft';
    case 'source':
      return undefined;
  }
}

/** Asks every service that a policy needs how far it is. */
export function headsOf(policy: Policy, clients: FactClients, signal: AbortSignal): Promise<ServiceHead[]> {
  return Promise.all(servicesOf(policy).map((service) => headOf(service, clients, signal)));
}

async function headOf(
  service: FactService,
  { tx, richlist, nft }: FactClients,
  signal: AbortSignal,
): Promise<ServiceHead> {
  switch (service) {
    case 'tx': {
      const { height, hash } = await ask(tx.getStatus.bind(tx), {}, signal);
      return { service, height, hash };
    }
    case 'richlist': {
      const { rich_list_height, hash } = await ask(richlist.getStatus.bind(richlist), {}, signal);
      return { service, height: rich_list_height, hash };
    }
    case 'nft': {
      const { height, hash } = await ask(nft.getStatus.bind(nft), {}, signal);
      return { service, height, hash };
    }
  }
}

/** The hash of a block as the block service has it; '' when it has none. */
export async function hashAt({ block }: FactClients, height: number, signal: AbortSignal): Promise<string> {
  if (height < 1) return '';
  const request = { from_height: height, to_height: height };
  const { blocks } = await ask(block.listBlockHashes.bind(block), request, signal);
  return blocks[0]?.hash ?? '';
}

const nanosecondsPerSecond = 1_000_000_000n;

/** Heights that are asked for at once. */
const timesAtOnce = 10_000;

/** Reads when the blocks of a window were made: 8 bytes for each. @throws RpcError */
export async function readClock(
  { block }: FactClients,
  { from_height, to_height, start_time, end_time }: ScoreWindow,
  signal: AbortSignal,
): Promise<Clock> {
  const times = new BigInt64Array(Math.max(0, to_height - from_height + 1));
  for (let from = from_height; from <= to_height; from += timesAtOnce) {
    const request = { from_height: from, to_height: Math.min(to_height, from + timesAtOnce - 1) };
    const { blocks } = await ask(block.listBlockTimes.bind(block), request, signal);
    for (const { height, seconds, nanos } of blocks)
      times[height - from_height] = BigInt(seconds) * nanosecondsPerSecond + BigInt(nanos);
  }
  const [start, end] = [BigInt(start_time), BigInt(end_time)].map((time) => time * nanosecondsPerSecond);
  return createClock(start as bigint, end as bigint, from_height, times);
}
