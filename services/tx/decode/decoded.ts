import { isObject, listOf, stringOf } from '../../common/chain/events.js';
import type { PublicKeyJson } from '../../common/chain/pubkey.js';

/** The members of a decoded tx that indexing looks at. */
export interface TxParts {
  messages: Record<string, unknown>[];
  public_keys: (PublicKeyJson | undefined)[];
  /** Signed by an Ethereum wallet: such a tx has a receipt even when it failed. */
  ethereum_signed: boolean;
}

/** `mode_info.single.mode` of Ethereum-signed txs: a number, since the enum has no name for it. */
const ETHEREUM_MODE = 9999;

/** Reads {body, auth_info, signatures}. Throws when the text is no JSON object. */
export function parseDecoded(text: string): TxParts {
  const tx: unknown = JSON.parse(text);
  if (!isObject(tx)) throw new Error('not a JSON object');
  return partsOf(tx);
}

/** The same of {body, auth_info, signatures} that is parsed already. */
export function partsOf(tx: Record<string, unknown>): TxParts {
  const body = isObject(tx['body']) ? tx['body'] : {};
  const authInfo = isObject(tx['auth_info']) ? tx['auth_info'] : {};
  const signers = listOf(authInfo['signer_infos']);
  return {
    messages: listOf(body['messages']),
    public_keys: signers.map((signer) => (isObject(signer['public_key']) ? signer['public_key'] : undefined)),
    ethereum_signed: signers.some((signer) => signMode(signer) === ETHEREUM_MODE),
  };
}

/** The distinct types of messages, in order, without the leading slash. */
export function messageTypes(messages: Record<string, unknown>[]): string[] {
  const types = messages.map((message) => stringOf(message['@type']).replace(/^\//, ''));
  return [...new Set(types.filter((type) => type !== ''))];
}

function signMode(signer: Record<string, unknown>): unknown {
  const modeInfo = signer['mode_info'];
  const single = isObject(modeInfo) ? modeInfo['single'] : undefined;
  return isObject(single) ? single['mode'] : undefined;
}
