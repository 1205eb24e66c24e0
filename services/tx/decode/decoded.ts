import type { AccountKey } from '../../common/chain/address.js';
import { isObject, listOf, stringOf, type TxEvent } from '../../common/chain/events.js';
import { accountOfPublicKey, type PublicKeyJson } from '../../common/chain/pubkey.js';
import type { NameScanner } from './names.js';

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

/**
 * The signers of a tx, distinct and in order. The `acc_seq` attributes (`address/sequence`)
 * of its `tx` events name them. A tx that was refused before its signatures were checked has
 * none: then the public keys do, and when one of those is missing or unknown, the messages.
 */
export function signersOf(events: TxEvent[], parts: TxParts, names: NameScanner): AccountKey[] {
  const named = events
    .filter((event) => event.type === 'tx')
    .flatMap((event) => event.attributes)
    .filter((attribute) => attribute.key === 'acc_seq')
    .map((attribute) => names.keyOf(attribute.value.split('/', 1)[0] ?? ''));
  const known = distinct(named);
  if (known.length > 0) return known;
  const keys = parts.public_keys.map((key) => accountOfPublicKey(key));
  if (keys.length > 0 && keys.every((key) => key !== undefined)) return distinct(keys);
  return distinct([...parts.messages.flatMap((message) => messageSigners(message, names)), ...keys]);
}

/** Members that hold the signer, the most telling first; a grant is signed by the granter. */
const SIGNER_MEMBERS = [
  'signer',
  'sender',
  'from_address',
  'authority',
  'granter',
  'grantee',
  'creator',
  'owner',
  'admin',
  'voter',
  'executor',
  'pruner',
];

function messageSigners(message: Record<string, unknown>, names: NameScanner): (AccountKey | undefined)[] {
  // MsgMultiSend is signed by every input, a group's proposal by every proposer.
  const inputs = listOf(message['inputs']).map((input) => input['address']);
  const proposers = Array.isArray(message['proposers']) ? message['proposers'] : [];
  const single = SIGNER_MEMBERS.map((member) => message[member]).find((value) => typeof value === 'string');
  return [single, ...inputs, ...proposers].map((value) =>
    typeof value === 'string' ? names.keyOf(value) : undefined,
  );
}

function distinct(keys: (AccountKey | undefined)[]): AccountKey[] {
  return [...new Set(keys.filter((key) => key !== undefined))];
}
