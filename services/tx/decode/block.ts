import type { AccountKey } from '../../common/chain/address.js';
import { parseEvents } from '../../common/chain/events.js';
import type { BlockMaterial } from '../../common/gen/indexer/block/v1/block.js';
import { messageOf } from '../../common/runtime/errors.js';
import { addAccount, defaultAccountsPerTx } from './accounts.js';
import { nameScanner } from './names.js';
import { pairReceipts, parseReceipts, type Receipt } from './receipts.js';
import { storesCreated } from './stores.js';
import { decodeTx, startNames, type TxReading } from './tx.js';
import type { BlockHead, DecodedBlock, DecodedEvmTx, DecodeOptions, NamedByTx, StoreOwner } from './types.js';

/**
 * Everything that the tx service stores of a block. Pure and synchronous, and it never
 * throws: what cannot be read is stored with what is known or left out, and described in
 * `problems`.
 */
export function decodeBlock(head: BlockHead, material: BlockMaterial, options: DecodeOptions): DecodedBlock {
  const problems: string[] = [];
  const names = nameScanner(options);
  const ahead = startNames();
  const readings = material.txs.map((tx, index) =>
    decodeTx(tx, head, options, names, ahead, (what) => problems.push(`tx ${index}: ${what}`)),
  );
  const receipts = options.vm === 'evm' ? readReceipts(head, material, options, problems) : [];
  nameReceiptAccounts(readings, receipts, problems);
  return {
    height: head.height,
    hash: head.hash,
    parent_hash: head.parent_hash,
    timestamp: head.timestamp,
    txs: readings.map(({ tx }) => tx),
    evm_txs: receipts.map(evmTx),
    stores: options.vm === 'move' ? createdStores(readings, material, problems) : [],
    problems,
  };
}

function readReceipts(
  head: BlockHead,
  material: BlockMaterial,
  { accounts_per_tx = defaultAccountsPerTx }: DecodeOptions,
  problems: string[],
): Receipt[] {
  try {
    const text = material.receipts.toString('utf8').trim();
    return parseReceipts(text, head.timestamp, accounts_per_tx, (what) => problems.push(what));
  } catch (error) {
    problems.push(`receipts: ${messageOf(error)}`);
    return [];
  }
}

/** A Cosmos tx also names the accounts of its receipt; who signed it is not the receipt's to say. */
function nameReceiptAccounts(readings: TxReading[], receipts: Receipt[], problems: string[]): void {
  if (receipts.length === 0) return;
  const candidates = readings.map(({ parts, result }) => ({
    eligible: result.code === 0 || parts.ethereum_signed,
    gas_used: BigInt(result.gas_used),
    succeeded: result.code === 0,
    log_count: result.events
      .filter((event) => event.type === 'evm')
      .reduce((count, event) => count + event.attributes.filter(({ key }) => key === 'log').length, 0),
  }));
  let paired = 0;
  for (const [index, receiptIndex] of pairReceipts(candidates, receipts).entries()) {
    const receipt = receiptIndex === undefined ? undefined : receipts[receiptIndex];
    const tx = readings[index]?.tx;
    if (!receipt || !tx) continue;
    paired++;
    tx.named = withAccounts(tx.named, receipt.accounts);
  }
  if (paired < receipts.length) problems.push(`receipts: ${receipts.length - paired} belong to no tx`);
}

/** What a tx names, and accounts besides. */
const withAccounts = (named: () => NamedByTx, more: ReadonlyMap<AccountKey, boolean>) => (): NamedByTx => {
  const before = named();
  const accounts = new Map(before.accounts);
  for (const account of more.keys()) addAccount(accounts, account, false);
  return { ...before, accounts };
};

function createdStores(readings: TxReading[], material: BlockMaterial, problems: string[]): StoreOwner[] {
  const stores = readings.flatMap(({ result }) => storesCreated(result.events));
  try {
    const events: unknown = JSON.parse(material.block_events.toString('utf8') || '[]');
    return [...stores, ...storesCreated(parseEvents(events))];
  } catch (error) {
    problems.push(`block events: ${messageOf(error)}`);
    return stores;
  }
}

function evmTx({ hash, body, accounts }: Receipt): DecodedEvmTx {
  return { hash, body, accounts };
}
