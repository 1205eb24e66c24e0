import type { AccountKey } from '../../common/chain/address.js';
import { isObject, type TxEvent } from '../../common/chain/events.js';
import { parseInnerJson } from '../../common/util/bounded-input.js';
import type { NameScanner } from './names.js';
import type { DecodeOptions } from './types.js';

/** `ACCOUNTS_PER_TX` where nothing else is set. */
export const defaultAccountsPerTx = 100_000;

/**
 * Adds every account that the events name to `accounts`, as no signer unless it is one already, until
 * there are so many. All attributes of all events count, of failed txs too (their fees are paid), with
 * two exceptions on EVM: the `ret` of a `call` is what a contract returned, and the `log` of
 * an `evm` event is read as a log, so that its data and other 32-byte words name nobody.
 */
export function addNamedAccounts(
  events: TxEvent[],
  vm: DecodeOptions['vm'],
  names: NameScanner,
  accounts: Map<AccountKey, boolean>,
  most: number,
): void {
  const add = (key: AccountKey): boolean => {
    addAccount(accounts, key, false);
    return accounts.size < most;
  };
  for (const { type, attributes } of events) {
    for (const { key, value } of attributes) {
      if (accounts.size >= most) return;
      if (vm === 'evm' && type === 'call' && key === 'ret') continue;
      if (vm === 'evm' && type === 'evm' && key === 'log' && addLog(value, accounts)) continue;
      names.scan(value, add);
    }
  }
}

/** Adds an account; whoever is a signer stays one. */
export function addAccount(accounts: Map<AccountKey, boolean>, key: AccountKey, signer: boolean): void {
  if (signer || !accounts.has(key)) accounts.set(key, signer);
}

/** Adds the address of an EVM log and the addresses among its indexed topics. */
export function addLogAccounts(log: unknown, accounts: Map<AccountKey, boolean>): void {
  if (!isObject(log)) return;
  const address = evmAddress(log['address']);
  if (address) addAccount(accounts, address, false);
  if (!Array.isArray(log['topics'])) return;
  for (const topic of log['topics']) {
    const named = topicAddress(topic);
    if (named) addAccount(accounts, named, false);
  }
}

/** The account of a 0x hex text of exactly 20 bytes; undefined for anything else. */
export function evmAddress(value: unknown): AccountKey | undefined {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)
    ? value.slice(2).toLowerCase()
    : undefined;
}

/** Twelve zero bytes and 20 more: an address, or a number that looks like one. */
function topicAddress(topic: unknown): AccountKey | undefined {
  return typeof topic === 'string' && /^0x0{24}[0-9a-fA-F]{40}$/.test(topic)
    ? topic.slice(26).toLowerCase()
    : undefined;
}

function addLog(value: string, accounts: Map<AccountKey, boolean>): boolean {
  try {
    addLogAccounts(parseInnerJson(value), accounts);
    return true;
  } catch {
    return false;
  }
}
