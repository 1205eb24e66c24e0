import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { sliceMember } from './json.js';
import { messageJson } from './proto/decode.js';

/** The three parts of a TxRaw, still encoded. */
export interface TxRaw {
  body_bytes: Uint8Array;
  auth_info_bytes: Uint8Array;
  signatures: Uint8Array[];
}

/** The parts of a tx's raw bytes, or undefined when they are no TxRaw. */
export function parseTxRaw(bytes: Uint8Array): TxRaw | undefined {
  const raw: TxRaw = { body_bytes: new Uint8Array(), auth_info_bytes: new Uint8Array(), signatures: [] };
  const reader = new BinaryReader(bytes);
  try {
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      if (wireType !== WireType.LengthDelimited) return undefined;
      if (number === 1) raw.body_bytes = reader.bytes();
      else if (number === 2) raw.auth_info_bytes = reader.bytes();
      else if (number === 3) raw.signatures.push(reader.bytes());
      else reader.skip(wireType, number);
    }
  } catch {
    return undefined;
  }
  return raw;
}

/**
 * Puts each decoded tx of the node's REST API (the raw text of an element of `txs`) at the
 * index of its raw tx; undefined where the node left one out. Signatures decide: every
 * tx has its own, and the rare equal ones (none at all, or a copy) are the same in order,
 * but only when as many are decoded as there are raw ones: else nobody can tell which one is
 * missing. A decoded tx that belongs to none of the raw ones is dropped.
 */
export function alignDecoded(raws: Uint8Array[], decoded: string[]): (string | undefined)[] {
  const indexes = groupBy(raws, (raw) => rawSignatures(raw));
  const texts = groupBy(decoded, (text) => decodedSignatures(text));
  const aligned = new Array<string | undefined>(raws.length).fill(undefined);
  for (const [signatures, places] of indexes) {
    const found = texts.get(signatures) ?? [];
    if (found.length !== places.length) continue;
    for (const [order, place] of places.entries()) aligned[place] = decoded[found[order] ?? -1];
  }
  return aligned;
}

/** Index lists by key, in order. Items without a key are left out. */
function groupBy<T>(items: T[], keyOf: (item: T) => string | undefined): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  for (const [index, item] of items.entries()) {
    const key = keyOf(item);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group) group.push(index);
    else groups.set(key, [index]);
  }
  return groups;
}

function rawSignatures(bytes: Uint8Array): string | undefined {
  const signatures = parseTxRaw(bytes)?.signatures;
  return signatures && JSON.stringify(signatures.map(base64));
}

function decodedSignatures(text: string): string | undefined {
  try {
    const signatures: unknown = JSON.parse(sliceMember(text, 'signatures') ?? 'null');
    // The node prints a tx without signatures as [] or, in some versions, as null.
    return JSON.stringify(signatures ?? []);
  } catch {
    return undefined;
  }
}

const NO_BODY =
  '{"messages":[],"memo":"","timeout_height":"0","extension_options":[],"non_critical_extension_options":[]}';
const NO_AUTH_INFO =
  '{"signer_infos":[],"fee":{"amount":[],"gas_limit":"0","payer":"","granter":""},"tip":null}';

/**
 * The JSON text {body, auth_info, signatures} of a tx, worked out from its bytes as the
 * node's REST API would print it: for txs that the API never gave. Messages of unknown
 * types keep their bytes ({"@type", "value": base64}). Never throws: a part that cannot be
 * read is printed empty, in its usual shape.
 */
export function decodeTxRaw(bytes: Uint8Array): string {
  const raw = parseTxRaw(bytes);
  const body = raw ? partJson('cosmos.tx.v1beta1.TxBody', raw.body_bytes, NO_BODY) : NO_BODY;
  const authInfo = raw
    ? partJson('cosmos.tx.v1beta1.AuthInfo', raw.auth_info_bytes, NO_AUTH_INFO)
    : NO_AUTH_INFO;
  const signatures = raw?.signatures.map((signature) => `"${base64(signature)}"`) ?? [];
  return `{"body":${body},"auth_info":${authInfo},"signatures":[${signatures.join(',')}]}`;
}

function partJson(type: string, bytes: Uint8Array, empty: string): string {
  try {
    return messageJson(type, bytes);
  } catch {
    return empty;
  }
}

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
