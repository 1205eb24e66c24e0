import type { AccountKey } from '../../common/chain/address.js';
import { listOf, type TxEvent } from '../../common/chain/events.js';
import { accountOfPublicKey } from '../../common/chain/pubkey.js';
import type { TxParts } from './decoded.js';
import type { NameScanner } from './names.js';

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
