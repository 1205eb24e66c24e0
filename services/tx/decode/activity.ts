import { type AccountKey, toHex } from '../../common/chain/address.js';
import { isObject, listOf, parseEvents, stringOf } from '../../common/chain/events.js';
import type { EvmCall, TxActivity } from '../../common/gen/indexer/tx/v1/activity.js';
import { evmAddress } from './accounts.js';
import { messageTypes, partsOf, signersOf } from './decoded.js';
import type { NameScanner } from './names.js';

/**
 * What a tx did, out of the JSON text that is stored of it. Pure.
 *
 * @throws SyntaxError or Error when that is no JSON object: nothing else is ever stored.
 */
export function decodeActivity(
  body: Buffer | string,
  height: number,
  position: number,
  names: NameScanner,
): TxActivity {
  const stored: unknown = JSON.parse(body.toString());
  if (!isObject(stored)) throw new Error(`tx ${position} of block ${height} is stored as no JSON object`);
  const { messages, ...parts } = partsOf(isObject(stored['tx']) ? stored['tx'] : {});
  const signers = signersOf(parseEvents(stored['events']), { messages, ...parts }, names);
  return {
    height,
    position,
    signers: signers.map(toHex),
    code: typeof stored['code'] === 'number' ? stored['code'] : 0,
    gas_used: stringOf(stored['gas_used']) || '0',
    msgs: messageTypes(messages),
    calls: callsOf(messages, names),
  };
}

/** Calls that messages make, in order, those within authz executions at their place. */
function callsOf(messages: readonly Record<string, unknown>[], names: NameScanner): EvmCall[] {
  const calls: EvmCall[] = [];
  const waiting = [...messages].reverse();
  for (let message = waiting.pop(); message !== undefined; message = waiting.pop()) {
    const type = stringOf(message['@type']);
    if (type === '/cosmos.authz.v1beta1.MsgExec')
      for (const inner of listOf(message['msgs']).reverse()) waiting.push(inner);
    if (type !== '/minievm.evm.v1.MsgCall') continue;
    const from = names.keyOf(stringOf(message['sender']));
    const to = addressOf(stringOf(message['contract_addr']), names);
    if (from === undefined || to === undefined) continue;
    calls.push({ from: toHex(from), to: toHex(to), selector: selectorOf(stringOf(message['input'])) });
  }
  return calls;
}

/** The node takes a contract as hex or as bech32. */
function addressOf(text: string, names: NameScanner): AccountKey | undefined {
  return evmAddress(text) ?? names.keyOf(text);
}

/** The first four bytes of the input, which the node takes with and without 0x. */
function selectorOf(input: string): string {
  const digits = /^(?:0x)?([0-9a-fA-F]{8})/.exec(input)?.[1];
  return digits === undefined ? '' : `0x${digits.toLowerCase()}`;
}
