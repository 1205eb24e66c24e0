import { elements, members } from '../json.js';
import { type Recording, rawTxs } from '../recording.js';
import type { Kind } from './plan.js';
import { type Decoded, kinds, matches, wordsOf } from './recognise.js';

/** Places in a recorded tx that differ from tx to tx. */
export type Slot =
  | 'signerHex'
  | 'signerSum'
  | 'signerBech'
  | 'otherHex'
  | 'otherSum'
  | 'otherBech'
  | 'key'
  | 'key64'
  | 'signature'
  | 'signature64'
  | 'contractHex'
  | 'contractSum'
  | 'valueHex'
  | 'valueWord'
  | 'valueDec'
  | 'valueRaw'
  | 'valueMember'
  | 'valueQuantity'
  | 'uri'
  | 'data64'
  | 'ethHash'
  | 'blockHash'
  | 'blockNumber'
  | 'transactionIndex'
  | 'cumulativeGas'
  | `log${number}`;

/** Values of the slots of one tx. */
export type Values = Partial<Record<Slot, string>>;

/** A text cut at its slots. */
export interface Parts {
  texts: string[];
  slots: Slot[];
}

/** A recorded tx cut into parts, in every form a node shows it. */
export interface Template {
  kind: Kind;
  /** types of its messages without the leading slash */
  msgs: string[];
  /** raw bytes as a binary string */
  raw: Parts;
  decoded: Parts;
  result: Parts;
  /** `data` of the result, decoded from base64; null when the tx failed */
  data: Parts | null;
  /** null when the tx has no receipt */
  receipt: Parts | null;
  trace: Parts | null;
  gasUsed: number;
  logs: number;
}

/** The first recorded tx of each kind that is alone in its block, cut into parts. Throws when a kind is missing. */
export function makeTemplates(recording: Recording): Map<Kind, Template> {
  const out = new Map<Kind, Template>();
  for (let height = recording.first; height <= recording.last; height++) {
    const bodies = recording.bodies(height)!;
    if (bodies.txCount !== 1 || bodies.txs.length !== 1) continue;
    const tx = JSON.parse(bodies.txs[0]!) as Decoded;
    const result = elements(members(bodies.results).get('txs_results')!)[0]!;
    const { code } = JSON.parse(result) as { code: number };
    for (const kind of kinds) {
      if (out.has(kind) || !matches(kind, tx, code)) continue;
      const receipt = elements(bodies.receipts)[0];
      const trace = elements(bodies.traces)[0];
      out.set(kind, cut(kind, tx, rawTxs(bodies.block)[0]!, bodies.txs[0]!, result, receipt, trace));
    }
  }
  for (const kind of kinds) {
    if (!out.has(kind)) throw new Error(`the recording has no tx to generate ${kind} from`);
  }
  return out;
}

/** Puts the values into the slots. */
export function fill(parts: Parts, values: Values): string {
  let out = parts.texts[0]!;
  for (let i = 0; i < parts.slots.length; i++) out += values[parts.slots[i]!]! + parts.texts[i + 1]!;
  return out;
}

function cut(
  kind: Kind,
  tx: Decoded,
  raw64: string,
  decoded: string,
  result: string,
  receipt: string | undefined,
  trace: string | undefined,
): Template {
  const raw = Buffer.from(raw64, 'base64').toString('latin1');
  const signature64 = tx.signatures[0]!;
  const key64 = tx.auth_info.signer_infos[0]!.public_key.key;
  const words = new Map<string, Slot>([
    [Buffer.from(signature64, 'base64').toString('latin1'), 'signature'],
    [signature64, 'signature64'],
    [Buffer.from(key64, 'base64').toString('latin1'), 'key'],
    [key64, 'key64'],
    ...wordsOf(kind, tx, receipt),
  ]);
  const data64 = (JSON.parse(result) as { data: string | null }).data;
  const parsedReceipt = receipt
    ? (JSON.parse(receipt) as Record<string, string> & { logs: unknown[] })
    : undefined;
  const inReceipt = new Map(words);
  if (parsedReceipt) {
    inReceipt.set(parsedReceipt['transactionHash']!.slice(2), 'ethHash');
    inReceipt.set(parsedReceipt['blockHash']!.slice(2), 'blockHash');
    inReceipt.set(`"blockNumber":"${parsedReceipt['blockNumber']}"`, 'blockNumber');
    inReceipt.set(`"transactionIndex":"${parsedReceipt['transactionIndex']}"`, 'transactionIndex');
    inReceipt.set(`"cumulativeGasUsed":"${parsedReceipt['cumulativeGasUsed']}"`, 'cumulativeGas');
    for (let i = 0; i < parsedReceipt.logs.length; i++)
      inReceipt.set(`"logIndex":"0x${i.toString(16)}"`, `log${i}`);
  }
  const inResult = new Map(words);
  if (data64) inResult.set(data64, 'data64');
  return {
    kind,
    msgs: tx.body.messages.map((m) => m['@type'].slice(1)),
    raw: split(raw, words),
    decoded: split(decoded, words),
    result: split(result, inResult),
    data: data64 ? split(Buffer.from(data64, 'base64').toString('latin1'), words) : null,
    receipt: receipt ? split(receipt, inReceipt) : null,
    trace: trace ? split(trace, inReceipt) : null,
    gasUsed: parsedReceipt ? Number.parseInt(parsedReceipt['gasUsed']!, 16) : 0,
    logs: parsedReceipt?.logs.length ?? 0,
  };
}

function split(text: string, words: Map<string, Slot>): Parts {
  const longestFirst = [...words.keys()].sort((a, b) => b.length - a.length);
  const escaped = longestFirst.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pieces = text.split(new RegExp(`(${escaped.join('|')})`));
  return {
    texts: pieces.filter((_, i) => i % 2 === 0),
    slots: pieces.filter((_, i) => i % 2 === 1).map((w) => words.get(w)!),
  };
}
