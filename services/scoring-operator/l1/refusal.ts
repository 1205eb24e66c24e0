import { NodeError } from '../../common/chain/endpoints.js';
import type { L1Module } from './stage.js';

/** How the virtual machine says that a function is not there. */
const unresolved = /^VM (error|failure): .*\bFUNCTION_RESOLUTION_FAILURE\b/;

/** How it says that Move code has stopped, where, and with which code. */
const aborted = /^VM aborted: location=(?:0x)?[0-9a-f]+::(\w+), code=(\d{1,20})\b/i;

/**
 * Whether the virtual machine itself has refused a view because there is no such function, or nothing under what it was
 * asked for. Any other error, such as that of a gateway in front of the node, says nothing of the L1.
 */
export function isMissing(error: unknown, module: L1Module): boolean {
  if (!(error instanceof NodeError) || error.reason !== 'error_answer') return false;
  // What wraps an error writes its own words before or behind it, parted by a colon.
  const said = error.answer?.message ?? '';
  const message = said.slice(Math.max(0, said.search(/\bVM (error|failure|aborted): /)));
  if (unresolved.test(message)) return true;
  const [, where, code = '0'] = aborted.exec(message) ?? [];
  return (where === module.name || where === 'table') && isNotFound(BigInt(code));
}

/** Abort codes for what is not there: category 6 of std::error, and 101 of the natives of tables. */
function isNotFound(code: bigint): boolean {
  return code >> 16n === 6n || code >> 8n === 101n;
}
