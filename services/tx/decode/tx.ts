import { hash } from 'node:crypto';
import type { AccountKey } from '../../common/chain/address.js';
import { decodeTxRaw } from '../../common/chain/txraw.js';
import type { TxMaterial } from '../../common/gen/indexer/block/v1/block.js';
import { messageOf } from '../../common/runtime/errors.js';
import { addAccount, addNamedAccounts, defaultAccountsPerTx } from './accounts.js';
import { messageTypes, parseDecoded, signersOf, type TxParts } from './decoded.js';
import type { NameScanner } from './names.js';
import { emptyResult, parseResult, type TxResult } from './receipts.js';
import { storesNamed } from './stores.js';
import type { BlockHead, DecodedTx, DecodeOptions, NamedByTx } from './types.js';

/** A decoded tx with what its receipt is looked up by. */
export interface TxReading {
  tx: DecodedTx;
  parts: TxParts;
  result: TxResult;
}

/** How many names the txs of a block may have that are read when it is decoded: those of the others are read when they are written. */
export interface NamesAhead {
  left: number;
}

/** A block has so many names ahead. */
export const startNames = (): NamesAhead => ({ left: 50_000 });

/** Memory of a name beside its text, in characters of a tx's result. Few are kept however short the result is. */
const [charactersOfName, fewNames] = [64, 16];

/**
 * Decodes one tx. Never throws: a result that cannot be read counts as an empty one, and a
 * decoded text that cannot is worked out from the raw bytes; both are told to `problem`.
 */
export function decodeTx(
  material: TxMaterial,
  head: BlockHead,
  options: DecodeOptions,
  names: NameScanner,
  ahead: NamesAhead,
  problem: (what: string) => void,
): TxReading {
  const result = readResult(material, problem);
  const { text, parts } = readDecoded(material, problem);
  const txHash = hash('sha256', material.raw, 'hex');
  const tx: DecodedTx = {
    hash: txHash,
    body: bodyText(txHash, head, result, text),
    msgs: messageTypes(parts.messages),
    named: keepFew(() => readNames(result, parts, options, names), material.result.length, ahead),
  };
  return { tx, parts, result };
}

function readNames(
  { events }: TxResult,
  parts: TxParts,
  { vm, accounts_per_tx: most = defaultAccountsPerTx }: DecodeOptions,
  names: NameScanner,
): NamedByTx {
  const accounts = new Map<AccountKey, boolean>();
  for (const signer of signersOf(events, parts, names)) addAccount(accounts, signer, true);
  addNamedAccounts(events, vm, names, accounts, most);
  const stores = vm === 'move' ? storesNamed(events, most) : [];
  return { accounts, stores, is_cut: Math.max(accounts.size, stores.length) >= most };
}

/** Reads what a tx names, and keeps it unless that takes more memory than its result of so many characters. */
function keepFew(read: () => NamedByTx, length: number, ahead: NamesAhead): () => NamedByTx {
  if (ahead.left <= 0) return read;
  const named = read();
  const count = named.accounts.size + named.stores.length;
  ahead.left -= count;
  return count <= fewNames || count * charactersOfName <= length ? kept(named) : read;
}

/** A function of its own: what it holds beside is not kept with it. */
const kept = (named: NamedByTx) => (): NamedByTx => named;

function readResult(material: TxMaterial, problem: (what: string) => void): TxResult {
  try {
    return parseResult(material.result.toString('utf8'));
  } catch (error) {
    problem(`result: ${messageOf(error)}`);
    return emptyResult;
  }
}

function readDecoded(
  material: TxMaterial,
  problem: (what: string) => void,
): { text: string; parts: TxParts } {
  const given = material.decoded.toString('utf8');
  try {
    return { text: given, parts: parseDecoded(given) };
  } catch (error) {
    problem(`decoded tx: ${messageOf(error)}`);
    const text = decodeTxRaw(material.raw);
    return { text, parts: parseDecoded(text) };
  }
}

/** The Cosmos TxResponse; the decoded tx goes in as the text it is. */
function bodyText(txHash: string, head: BlockHead, result: TxResult, decoded: string): string {
  const { code, codespace, data, raw_log, info, gas_wanted, gas_used, events } = result;
  const before = {
    txhash: txHash.toUpperCase(),
    height: String(head.height),
    codespace,
    code,
    data,
    raw_log,
    logs: [],
    info,
    gas_wanted,
    gas_used,
  };
  const after = { timestamp: head.timestamp, events };
  return `${JSON.stringify(before).slice(0, -1)},"tx":${decoded},${JSON.stringify(after).slice(1)}`;
}
