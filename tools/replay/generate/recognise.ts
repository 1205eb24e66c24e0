import { bech32 } from '@scure/base';
import { getAddress } from 'ethers';
import type { Kind } from './plan.js';
import type { Slot } from './template.js';

/** A tx as the REST API decodes it, as far as it is read here. */
export interface Decoded {
  body: { messages: Message[] };
  auth_info: { signer_infos: { public_key: { key: string }; mode_info: { single: { mode: unknown } } }[] };
  signatures: string[];
}

type Message = { '@type': string } & Record<string, unknown>;

const transfer = '0xa9059cbb';
const transferFrom = '0x23b872dd';
const mintWithUri = '0xd0def521';
/** a method of a recorded contract that always reverts */
const fails = '0xa169ce09';

/** Every kind that is looked for. */
export const kinds: Kind[] = [
  'send',
  'send_failed',
  'erc20',
  'cosmos_call',
  'native',
  'mint',
  'nft_transfer',
  'call_failed',
];

/**
 * Whether a recorded tx can be the template of a kind. Amounts and token numbers must be told apart from other
 * words of the tx, so those with very small ones do not do.
 */
export function matches(kind: Kind, tx: Decoded, code: number): boolean {
  const [message, ...more] = tx.body.messages;
  if (!message || more.length > 0) return false;
  const send = message['@type'].endsWith('MsgSend');
  const asCosmos = tx.auth_info.signer_infos[0]?.mode_info.single.mode === 'SIGN_MODE_DIRECT';
  const input = String(message['input'] ?? '');
  switch (kind) {
    case 'send':
      return send && code === 0 && sentAmount(message).length === 19;
    case 'send_failed':
      return send && code !== 0;
    case 'erc20':
      return code === 0 && input.startsWith(transfer) && !asCosmos && BigInt(`0x${word(input, 1)}`) > 0x100n;
    case 'cosmos_call':
      return code === 0 && input.startsWith(transfer) && asCosmos;
    case 'native':
      return code === 0 && input === '0x' && String(message['value']).length === 4;
    case 'mint':
      return code === 0 && input.startsWith(mintWithUri) && mintedUri(input).length === 30;
    case 'nft_transfer':
      return code === 0 && input.startsWith(transferFrom) && BigInt(`0x${word(input, 2)}`) > 1n;
    case 'call_failed':
      return code !== 0 && input.startsWith(fails);
  }
}

/** The texts of a recorded tx that stand for its accounts, contract and value, and the slots they become. */
export function wordsOf(kind: Kind, tx: Decoded, receipt: string | undefined): [string, Slot][] {
  const message = tx.body.messages[0]!;
  const input = String(message['input'] ?? '');
  const signer = hexOfBech32(String(message['sender'] ?? message['from_address']));
  const words = account(signer, 'signer');
  switch (kind) {
    case 'send':
      return [
        ...words,
        ...account(hexOfBech32(String(message['to_address'])), 'other'),
        [sentAmount(message), 'valueDec'],
        [word256(BigInt(sentAmount(message))), 'valueHex'],
      ];
    case 'send_failed':
      return [...words, ...account(hexOfBech32(String(message['to_address'])), 'other')];
    case 'erc20':
    case 'cosmos_call':
      return [
        ...words,
        ...account(word(input, 0).slice(24), 'other'),
        ...contract(message),
        [word(input, 1), 'valueHex'],
      ];
    case 'native': {
      const value = String(message['value']);
      return [
        ...words,
        ...account(String(message['contract_addr']).slice(2), 'other'),
        // four digits may stand anywhere: only with what surrounds them are they the amount
        [`\u0004${value}`, 'valueRaw'],
        [`"value":"${value}"`, 'valueMember'],
        [`"value":"0x${Number(value).toString(16)}"`, 'valueQuantity'],
        [word256(BigInt(value)), 'valueHex'],
      ];
    }
    case 'mint': {
      const logs = JSON.parse(receipt ?? '{"logs":[]}') as { logs: { topics: string[] }[] };
      return [
        ...words,
        ...account(word(input, 0).slice(24), 'other'),
        ...contract(message),
        // with the 0x: the number alone is found inside the call's input too, across two of its words
        [logs.logs[0]!.topics[3]!, 'valueWord'],
        [Buffer.from(mintedUri(input)).toString('hex'), 'uri'],
      ];
    }
    case 'nft_transfer':
      return [
        ...words,
        ...account(word(input, 1).slice(24), 'other'),
        ...contract(message),
        [word(input, 2), 'valueHex'],
      ];
    case 'call_failed':
      return words;
  }
}

/** A number as a 32-byte word, hex without 0x. */
export function word256(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}

function account(hex: string, name: 'signer' | 'other'): [string, Slot][] {
  const lower = hex.toLowerCase();
  return [
    [lower, `${name}Hex`],
    [getAddress(`0x${lower}`).slice(2), `${name}Sum`],
    [bech32.encode('init', bech32.toWords(Buffer.from(lower, 'hex'))), `${name}Bech`],
  ];
}

function contract(message: Message): [string, Slot][] {
  const checksummed = String(message['contract_addr']).slice(2);
  return [
    [checksummed.toLowerCase(), 'contractHex'],
    [checksummed, 'contractSum'],
  ];
}

function hexOfBech32(address: string): string {
  return Buffer.from(bech32.fromWords(bech32.decode(address as `init1${string}`).words)).toString('hex');
}

function sentAmount(message: Message): string {
  return (message['amount'] as { amount: string }[])[0]?.amount ?? '';
}

/** The nth 32-byte argument of a call. */
function word(input: string, n: number): string {
  return input.slice(10 + n * 64, 74 + n * 64) || '0';
}

function mintedUri(input: string): string {
  const length = Number.parseInt(word(input, 2), 16);
  return Buffer.from(input.slice(202, 202 + length * 2), 'hex').toString('utf8');
}
