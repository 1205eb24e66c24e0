import type { AccountKey } from '../../common/chain/address.js';
import { isObject, listOf, parseEvents, stringOf, type TxEvent } from '../../common/chain/events.js';
import { splitArray } from '../../common/chain/json.js';
import { addAccount, addLogAccounts, evmAddress } from './accounts.js';
import type { DecodedEvmTx } from './types.js';

/** A receipt of eth_getBlockReceipts with what its Cosmos tx is found by. */
export interface Receipt extends DecodedEvmTx {
  gas_used: bigint;
  succeeded: boolean;
  log_count: number;
}

/** What a Cosmos tx shows of itself when receipts look for theirs. */
export interface ReceiptCandidate {
  /** Whether there can be a receipt: it succeeded, or an Ethereum wallet signed it. */
  eligible: boolean;
  gas_used: bigint;
  succeeded: boolean;
  /** Number of `log` attributes in its `evm` events. */
  log_count: number;
}

/**
 * The receipts of a block, in their order. One that cannot be read is left out and told to
 * `problem`. `text` is empty on rollups without EVM.
 *
 * @param most accounts that one is listed under.
 */
export function parseReceipts(
  text: string,
  timestamp: string,
  most: number,
  problem: (what: string) => void,
): Receipt[] {
  if (text === '' || text === 'null') return [];
  const receipts: Receipt[] = [];
  for (const [index, receiptText] of splitArray(text).entries()) {
    const receipt: unknown = JSON.parse(receiptText);
    const hash = isObject(receipt)
      ? /^0x([0-9a-fA-F]{64})$/.exec(stringOf(receipt['transactionHash']))
      : null;
    if (!isObject(receipt) || !hash?.[1]) {
      problem(`receipt ${index}: no transactionHash`);
      continue;
    }
    receipts.push({
      hash: hash[1].toLowerCase(),
      body: withTimestamp(receipt, receiptText, timestamp),
      accounts: receiptAccounts(receipt, most),
      gas_used: hexNumber(receipt['gasUsed']),
      succeeded: receipt['status'] === '0x1',
      log_count: listOf(receipt['logs']).length,
    });
  }
  return receipts;
}

/**
 * For every Cosmos tx of a block the index of its receipt, or undefined.
 *
 * A receipt does not say which Cosmos tx it belongs to (the two hashes differ, and its
 * transactionIndex counts receipts), but receipts come in the order of the block and repeat
 * the tx's gas, its success and, of a tx that succeeded, its logs. A failed tx that was
 * signed the Cosmos way has no receipt. So each receipt takes the next tx that agrees with it. One
 * that agrees with none is left alone: the caller can tell by the count.
 */
export function pairReceipts(txs: ReceiptCandidate[], receipts: Receipt[]): (number | undefined)[] {
  const pairs = new Array<number | undefined>(txs.length).fill(undefined);
  let next = 0;
  for (const [receiptIndex, receipt] of receipts.entries()) {
    let txIndex = next;
    for (let tx = txs[txIndex]; tx && !agrees(tx, receipt); tx = txs[txIndex]) txIndex++;
    if (txIndex === txs.length) continue;
    pairs[txIndex] = receiptIndex;
    next = txIndex + 1;
  }
  return pairs;
}

function agrees(tx: ReceiptCandidate, receipt: Receipt): boolean {
  if (!tx.eligible || tx.gas_used !== receipt.gas_used || tx.succeeded !== receipt.succeeded) return false;
  return !tx.succeeded || tx.log_count === receipt.log_count;
}

function receiptAccounts(receipt: Record<string, unknown>, most: number): Map<AccountKey, boolean> {
  const accounts = new Map<AccountKey, boolean>();
  const from = evmAddress(receipt['from']);
  if (from) accounts.set(from, true);
  for (const member of ['to', 'contractAddress']) {
    const address = evmAddress(receipt[member]);
    if (address) addAccount(accounts, address, false);
  }
  for (const log of listOf(receipt['logs'])) {
    addLogAccounts(log, accounts);
    if (accounts.size >= most) break;
  }
  return accounts;
}

/** The receipt's own text with one member more; a node that sends a timestamp is overruled. */
function withTimestamp(receipt: Record<string, unknown>, text: string, timestamp: string): string {
  if (Object.hasOwn(receipt, 'timestamp')) return JSON.stringify({ ...receipt, timestamp });
  return `${text.slice(0, -1)},"timestamp":${JSON.stringify(timestamp)}}`;
}

function hexNumber(value: unknown): bigint {
  const text = stringOf(value);
  return /^0x[0-9a-fA-F]{1,64}$/.test(text) ? BigInt(text) : -1n;
}

/** An element of block_results.txs_results in the spelling of the Cosmos TxResponse. */
export interface TxResult {
  code: number;
  codespace: string;
  /** Upper-case hex. */
  data: string;
  raw_log: string;
  info: string;
  gas_wanted: string;
  gas_used: string;
  events: TxEvent[];
}

/**
 * Reads the text of a tx result. The node writes null for an empty list, a missing value and
 * the data of a failed tx; here they are the empty list and the empty string. Throws when
 * the text is no JSON object.
 */
export function parseResult(text: string): TxResult {
  const result: unknown = JSON.parse(text);
  if (!isObject(result)) throw new Error('not a JSON object');
  return {
    code: typeof result['code'] === 'number' ? result['code'] : 0,
    codespace: stringOf(result['codespace']),
    data: Buffer.from(stringOf(result['data']), 'base64').toString('hex').toUpperCase(),
    raw_log: stringOf(result['log']),
    info: stringOf(result['info']),
    gas_wanted: integerText(result['gas_wanted']),
    gas_used: integerText(result['gas_used']),
    events: parseEvents(result['events']),
  };
}

/** Stands in for a result that cannot be read. */
export const emptyResult: TxResult = {
  code: 0,
  codespace: '',
  data: '',
  raw_log: '',
  info: '',
  gas_wanted: '0',
  gas_used: '0',
  events: [],
};

/** An amount of gas, which has 64 bits. */
function integerText(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : stringOf(value);
  return /^-?\d{1,20}$/.test(text) ? text : '0';
}
