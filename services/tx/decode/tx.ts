import { hash } from 'node:crypto';
import type { AccountKey } from '../../common/chain/address.js';
import { decodeTxRaw } from '../../common/chain/txraw.js';
import { messageOf } from '../../common/errors.js';
import type { TxMaterial } from '../../common/gen/indexer/block/v1/block.js';
import { addAccount, addNamedAccounts } from './accounts.js';
import { messageTypes, parseDecoded, type TxParts } from './decoded.js';
import type { NameScanner } from './names.js';
import { emptyResult, parseResult, type TxResult } from './result.js';
import { signersOf } from './signers.js';
import { storesNamed } from './stores.js';
import type { BlockHead, DecodedTx, DecodeOptions } from './types.js';

/** A decoded tx with what its receipt is looked up by. */
export interface TxReading {
  tx: DecodedTx;
  parts: TxParts;
  result: TxResult;
}

/**
 * Decodes one tx. Never throws: a result that cannot be read counts as an empty one, and a
 * decoded text that cannot is worked out from the raw bytes; both are told to `problem`.
 */
export function decodeTx(
  material: TxMaterial,
  head: BlockHead,
  options: DecodeOptions,
  names: NameScanner,
  problem: (what: string) => void,
): TxReading {
  const result = readResult(material, problem);
  const { text, parts } = readDecoded(material, problem);
  const txHash = hash('sha256', material.raw, 'hex');
  const accounts = new Map<AccountKey, boolean>();
  for (const signer of signersOf(result.events, parts, names)) {
    addAccount(accounts, signer, true);
  }
  addNamedAccounts(result.events, options.vm, names, accounts);
  const tx: DecodedTx = {
    hash: txHash,
    body: bodyText(txHash, head, result, text),
    msgs: messageTypes(parts.messages),
    accounts,
    stores: options.vm === 'move' ? storesNamed(result.events) : [],
  };
  return { tx, parts, result };
}

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
