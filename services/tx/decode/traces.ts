import type { AccountKey } from '../../common/chain/address.js';
import { isObject, listOf, stringOf } from '../../common/chain/events.js';
import { addAccount, evmAddress } from './accounts.js';
import type { DecodedFrame } from './types.js';

/**
 * The call frames of a block out of the result of debug_traceBlockByNumber with callTracer,
 * in the order of the txs and, within one, in pre-order (a call before the calls it makes).
 * Frames that reverted are there too. A tx whose trace failed has none. Any depth of nesting:
 * it does not recurse.
 *
 * @returns frames that are made as they are taken, once: a trace of 128 MiB may have a million, and each is larger
 *   than it was in the trace.
 * @throws Error when the text is no JSON array.
 */
export function decodeTraces(height: number, traces: Buffer | string): Iterable<DecodedFrame> {
  const list: unknown = JSON.parse(typeof traces === 'string' ? traces : traces.toString('utf8'));
  if (!Array.isArray(list)) throw new Error(`traces of block ${height}: not a JSON array`);
  return framesOfBlock(height, list);
}

function* framesOfBlock(height: number, traces: unknown[]): Generator<DecodedFrame, void, undefined> {
  for (const trace of listOf(traces)) {
    const hash = /^0x([0-9a-fA-F]{64})$/.exec(stringOf(trace['txHash']))?.[1];
    const top = trace['result'];
    trace['result'] = undefined;
    if (hash) yield* framesOfTx(height, hash.toLowerCase(), top);
  }
}

function* framesOfTx(height: number, hash: string, top: unknown): Generator<DecodedFrame, void, undefined> {
  const waiting = [{ call: top, parent_index: -1 }];
  for (let index = 0; waiting.length > 0; ) {
    const next = waiting.pop();
    if (!next || !isObject(next.call)) continue;
    yield frameOf(height, hash, next.parent_index, index, next.call);
    const calls = next.call['calls'];
    if (Array.isArray(calls)) {
      for (let child = calls.length - 1; child >= 0; child--) {
        waiting.push({ call: calls[child], parent_index: index });
      }
    }
    // What was taken is held no longer: nothing above holds it but this.
    next.call['calls'] = undefined;
    index++;
  }
}

function frameOf(
  height: number,
  hash: string,
  parent_index: number,
  index: number,
  call: Record<string, unknown>,
): DecodedFrame {
  const text = (member: string, absent: string) => stringOf(call[member]) || absent;
  const body = JSON.stringify({
    height,
    hash: `0x${hash}`,
    parent_index,
    index,
    type: text('type', ''),
    from: text('from', ''),
    to: text('to', ''),
    input: text('input', '0x'),
    output: text('output', '0x'),
    value: text('value', '0x'),
    gas: text('gas', '0x0'),
    gasUsed: text('gasUsed', '0x0'),
  });
  const accounts = new Map<AccountKey, boolean>();
  const from = evmAddress(call['from']);
  const to = evmAddress(call['to']);
  if (from) addAccount(accounts, from, true);
  if (to) addAccount(accounts, to, false);
  return { hash, parent_index, index, body, accounts };
}
