import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { computeAddress, getAddress, HDNodeWallet, SigningKey } from 'ethers';
import type { ValuesOf } from '../../common/runtime/config.js';
import { UserError } from '../../common/runtime/errors.js';
import { createRemoteSigner } from './remote-signer.js';
import type { signerSettings } from './settings.js';
import { type Offer, serializeSigned, type TxFields, unsignedHash } from './tx.js';

/** What signs txs of one account. Whatever it is made of cannot be seen from it. */
export interface Signer {
  /** 0x hex with checksum. */
  readonly address: string;
  /** In words, for people: where it signs, never what with. */
  readonly description: string;
  /**
   * Signs a tx: either its raw bytes for us to send, or, where a remote signer does not give
   * them away, the hash of the tx that it has sent itself. `beforeSending` is awaited in that
   * case, before it is asked.
   *
   * @throws ContractError when it refuses; NodeError when it does not answer.
   */
  sign(tx: TxFields, beforeSending: () => Promise<void>): Promise<SignedBytes>;
}

/** A signed tx: raw bytes to send, with the offer where somebody may have changed it, or the hash of one that the signer has sent. */
export type SignedBytes =
  | { readonly raw: string; readonly tx_hash: string; readonly offer?: Offer }
  | { readonly raw?: undefined; readonly tx_hash: string };

type SignerConfig = ValuesOf<typeof signerSettings>;

/** What is wrong with the settings of the signer, and with a file that they name; nothing is sent. */
export function checkSignerSettings(config: SignerConfig): string[] {
  const given = sourcesOf(config);
  if (given.length === 0) {
    return ['no signer: set PRIVATE_KEY, PRIVATE_KEY_FILE, MNEMONIC, MNEMONIC_FILE or SIGNER_URL'];
  }
  if (given.length > 1) return [`more than one signer: ${given.join(' and ')} are set; leave one`];
  if (config.SIGNER_URL !== undefined) return [];
  try {
    const { address } = localKey(config);
    return mismatch(config, address);
  } catch (error) {
    return [(error as Error).message];
  }
}

/**
 * The signer that the settings name.
 *
 * @throws UserError when they name none, more than one, or one that cannot be; NodeError or
 * ContractError when a remote one does not answer or has no account.
 */
export async function createSigner(config: SignerConfig, signal?: AbortSignal): Promise<Signer> {
  const mistakes = checkSignerSettings(config);
  if (mistakes.length > 0) throw new UserError(mistakes.join('\n'));
  if (config.SIGNER_URL !== undefined) {
    return createRemoteSigner(config.SIGNER_URL.reveal(), config.SIGNER_ADDRESS, signal);
  }
  const { key, address, description } = localKey(config);
  return localSigner(key, address, description);
}

/** A signer of a private key that is at hand, in hex. @throws UserError */
export function signerOfKey(private_key: Secret): Signer {
  const key = parseKey(private_key.reveal(), 'the private key');
  return localSigner(key, computeAddress(key), 'a private key');
}

function localSigner(key: SigningKey, address: string, description: string): Signer {
  return {
    address,
    description,
    async sign(tx) {
      return serializeSigned(tx, key.sign(unsignedHash(tx)));
    },
  };
}

function sourcesOf(config: SignerConfig): string[] {
  const names = ['PRIVATE_KEY', 'PRIVATE_KEY_FILE', 'MNEMONIC', 'MNEMONIC_FILE', 'SIGNER_URL'] as const;
  return names.filter((name) => config[name] !== undefined && config[name] !== '');
}

function mismatch(config: SignerConfig, address: string): string[] {
  const wanted = config.SIGNER_ADDRESS;
  if (wanted === '' || wanted.toLowerCase() === address.toLowerCase()) return [];
  return [`SIGNER_ADDRESS is ${wanted}, but ${sourcesOf(config).join()} is the key of ${address}`];
}

/** @throws UserError that never holds what was given. */
function localKey(config: SignerConfig): { key: SigningKey; address: string; description: string } {
  const { PRIVATE_KEY, PRIVATE_KEY_FILE, MNEMONIC, MNEMONIC_FILE, MNEMONIC_INDEX } = config;
  if (PRIVATE_KEY !== undefined || PRIVATE_KEY_FILE !== '') {
    const name = PRIVATE_KEY === undefined ? 'the file of PRIVATE_KEY_FILE' : 'PRIVATE_KEY';
    const key = parseKey(PRIVATE_KEY?.reveal() ?? readSecret('PRIVATE_KEY_FILE', PRIVATE_KEY_FILE), name);
    return { key, address: computeAddress(key), description: 'a private key' };
  }
  const name = MNEMONIC === undefined ? 'the file of MNEMONIC_FILE' : 'MNEMONIC';
  const words = MNEMONIC?.reveal() ?? readSecret('MNEMONIC_FILE', MNEMONIC_FILE);
  const path = `m/44'/60'/0'/0/${MNEMONIC_INDEX}`;
  const key = keyOfWords(words, path, name);
  return { key, address: computeAddress(key), description: `BIP39 words, ${path}` };
}

function parseKey(text: string, name: string): SigningKey {
  const digits = text.trim().replace(/^0x/i, '');
  // The cause is left out: a library's error may hold the value.
  if (!/^[0-9a-fA-F]{64}$/.test(digits))
    throw new UserError(`${name} must be 64 hex digits, with or without 0x`);
  try {
    const key = new SigningKey(`0x${digits}`);
    void key.publicKey;
    return key;
  } catch {
    throw new UserError(`${name} is not a private key: it is zero or above the curve's order`);
  }
}

function keyOfWords(text: string, path: string, name: string): SigningKey {
  const words = text.trim().toLowerCase().split(/\s+/).join(' ');
  try {
    return HDNodeWallet.fromPhrase(words, '', path).signingKey;
  } catch {
    const count = words === '' ? 0 : words.split(' ').length;
    throw new UserError(
      `${name} is not a BIP39 mnemonic: it has ${count} words, and must be 12, 15, 18, 21 or 24 of the English list with a right checksum`,
    );
  }
}

function readSecret(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UserError(
      `${name}: cannot read the file: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`,
    );
  }
}

/** An address in its checksum spelling. */
export const withChecksum = (address: string): string => getAddress(address.toLowerCase());

/** A text that is told only on purpose: printing, logging or serialising it shows that there is one, not which. */
export interface Secret {
  /** The text itself. What takes it must not keep it where it can be printed. */
  reveal(): string;
}

const shown = '[secret]';

/** Hides a text. It lives in a closure, so that no dump of the object has it. */
export function hide(text: string): Secret {
  return Object.freeze({
    reveal: () => text,
    toString: () => shown,
    toJSON: () => shown,
    [inspect.custom]: () => shown,
  });
}
