import { invalidArgument } from '../common/errors.js';
import { quoted } from '../common/page/check.js';

/** A hash as 64 lower-case hex digits. @throws RpcError INVALID_ARGUMENT when it is none. */
export function checkHash(tx_hash: string): string {
  const digits = /^(?:0x)?([0-9a-f]{64})$/.exec(tx_hash.toLowerCase())?.[1];
  if (digits === undefined)
    throw invalidArgument(`tx_hash ${quoted(tx_hash)} is not 64 hex digits, with or without 0x`);
  return digits;
}

/** Most hashes that a call may ask for. */
const mostHashes = 1_000;

/** Several hashes. @throws RpcError INVALID_ARGUMENT when one is none, or when there are too many. */
export function checkHashes(tx_hashes: readonly string[]): string[] {
  if (tx_hashes.length > mostHashes)
    throw invalidArgument(`at most ${mostHashes} hashes can be asked for at once`);
  return tx_hashes.map(checkHash);
}

/** Distinct message types without the leading slash, sorted; empty means no filter. */
export function cleanMsgs(msgs: readonly string[]): string[] {
  const types = msgs.map((msg) => msg.replace(/^\//, '')).filter((msg) => msg !== '');
  return [...new Set(types)].sort();
}
