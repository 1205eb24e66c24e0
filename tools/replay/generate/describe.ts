import { bech32 } from '@scure/base';
import { blockTxs, type GeneratedChain, type GeneratedTx } from './chain.js';
import type { Kind } from './plan.js';

/** What is true of a generated tx, for comparison with an index of the chain. */
export interface TxTruth {
  /** SHA-256 of the raw bytes, upper-case hex */
  hash: string;
  /** lower-case 0x hex; null when the tx has no receipt */
  eth_hash: string | null;
  /** every account the tx involves, lower-case 0x hex of 20 bytes, sorted */
  accounts: string[];
  /** lower-case 0x hex */
  signers: string[];
  /** message types without leading slash */
  msgs: string[];
  kind: Kind;
  code: number;
}

interface Receipt {
  from: string | null;
  to: string | null;
  contractAddress: string | null;
  logs: { address: string; topics: string[] }[];
}

interface Event {
  type: string;
  attributes: { key: string; value: string }[];
}

/**
 * The truth about the txs of a height, in block order. Accounts are read off the finished answers by the rule
 * of the API (signers; bech32 and 20-byte hex in event attributes, except what a call returns; addresses and
 * indexed topics of logs; from, to and contractAddress of the receipt) with other code than an indexer's.
 */
export function describeGenerated(chain: GeneratedChain, height: number): TxTruth[] {
  return blockTxs(chain.world, chain.templates, height).map(describe);
}

function describe(tx: GeneratedTx): TxTruth {
  const { accounts, signers } = involved(tx.result, tx.receipt);
  return {
    hash: tx.hash,
    eth_hash: tx.ethHash ?? null,
    accounts,
    signers,
    msgs: tx.template.msgs,
    kind: tx.plan.kind,
    code: (JSON.parse(tx.result) as { code: number }).code,
  };
}

/** Accounts and signers of an EVM tx from its element of txs_results and its receipt, both JSON texts. */
export function involved(
  result: string,
  receipt: string | undefined,
): { accounts: string[]; signers: string[] } {
  const accounts = new Set<string>();
  const signers: string[] = [];
  for (const event of (JSON.parse(result) as { events: Event[] }).events) {
    for (const { key, value } of event.attributes) {
      const signer = key === 'acc_seq' ? toHex(value.split('/')[0]!) : undefined;
      if (signer) signers.push(signer);
      if (event.type === 'call' && key === 'ret') continue;
      const texts = event.type === 'evm' && key === 'log' ? logWords(value) : value.split(',');
      for (const text of texts) addAccount(accounts, text);
    }
  }
  if (receipt) {
    const { from, to, contractAddress, logs } = JSON.parse(receipt) as Receipt;
    for (const text of [from, to, contractAddress]) addAccount(accounts, text ?? '');
    for (const text of logs.flatMap((log) => logWords(JSON.stringify(log)))) addAccount(accounts, text);
  }
  for (const signer of signers) accounts.add(signer);
  return { accounts: [...accounts].sort(), signers };
}

/** The address of a log, and those of its indexed topics that begin with 12 zero bytes, as addresses. */
function logWords(text: string): string[] {
  const log = JSON.parse(text) as { address: string; topics: string[] };
  const indexed = log.topics.slice(1).filter((t) => /^0x0{24}[0-9a-f]{40}$/.test(t));
  return [log.address, ...indexed.map((t) => `0x${t.slice(26)}`)];
}

function addAccount(accounts: Set<string>, text: string): void {
  const hex = /^0x[0-9a-fA-F]{40}$/.test(text) ? text.toLowerCase() : toHex(text);
  if (hex) accounts.add(hex);
}

function toHex(text: string): string | undefined {
  if (!/^init1[02-9ac-hj-np-z]{38}$/.test(text)) return undefined;
  return `0x${Buffer.from(bech32.fromWords(bech32.decode(text as `init1${string}`).words)).toString('hex')}`;
}
