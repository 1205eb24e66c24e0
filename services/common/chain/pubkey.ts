import { createHash } from 'node:crypto';
import { computeAddress, ripemd160 } from 'ethers';
import { type AccountKey, keyOfBytes } from './address.js';

/** A public key as the node's REST writes it in `signer_infos`; other members are ignored. */
export interface PublicKeyJson {
  '@type'?: unknown;
  key?: unknown;
  threshold?: unknown;
  public_keys?: unknown;
}

const SECP256K1 = '/cosmos.crypto.secp256k1.PubKey';
const ETH_SECP256K1 = '/initia.crypto.v1beta1.ethsecp256k1.PubKey';
const ED25519 = '/cosmos.crypto.ed25519.PubKey';
const MULTISIG = '/cosmos.crypto.multisig.LegacyAminoPubKey';

/** Names under which amino registers the key types: their hash is the prefix of the encoding. */
const AMINO_NAMES: Record<string, string> = {
  [SECP256K1]: 'tendermint/PubKeySecp256k1',
  [ED25519]: 'tendermint/PubKeyEd25519',
  [ETH_SECP256K1]: 'initia/PubKeyEthSecp256k1',
  [MULTISIG]: 'tendermint/PubKeyMultisigThreshold',
};

/** A multisig of multisigs is legal; deeper nesting than this is an attack. */
const MAX_DEPTH = 8;

/**
 * The account of a single key, given as base64 of the compressed point: ripemd160(sha256)
 * for Cosmos keys, the last 20 bytes of keccak of the uncompressed point for Ethereum ones,
 * 20 bytes of sha256 for ed25519. Undefined for an unknown type or a key that is no point.
 */
export function pubkeyToAccount(typeUrl: string, key: string): AccountKey | undefined {
  const bytes = Buffer.from(key, 'base64');
  try {
    switch (typeUrl) {
      case SECP256K1:
        return bytes.length === 33 ? ripemd160(sha256(bytes)).slice(2) : undefined;
      case ETH_SECP256K1:
        return computeAddress(`0x${bytes.toString('hex')}`)
          .slice(2)
          .toLowerCase();
      case ED25519:
        return bytes.length === 32 ? keyOfBytes(sha256(bytes).subarray(0, 20)) : undefined;
      default:
        return undefined;
    }
  } catch {
    return undefined;
  }
}

/**
 * The account of a public key in the shape of the REST answer, multisig ones included: the
 * first 20 bytes of sha256 of the amino encoding. Undefined when it is absent or unknown.
 */
export function accountOfPublicKey(publicKey: PublicKeyJson | null | undefined): AccountKey | undefined {
  if (typeof publicKey !== 'object' || publicKey === null) return undefined;
  const type = publicKey['@type'];
  if (type === MULTISIG) {
    const encoded = aminoEncode(publicKey, 0);
    return encoded && keyOfBytes(sha256(encoded).subarray(0, 20));
  }
  return typeof type === 'string' && typeof publicKey.key === 'string'
    ? pubkeyToAccount(type, publicKey.key)
    : undefined;
}

function aminoEncode(publicKey: PublicKeyJson, depth: number): Buffer | undefined {
  const type = publicKey['@type'];
  const name = typeof type === 'string' ? AMINO_NAMES[type] : undefined;
  if (name === undefined || depth > MAX_DEPTH) return undefined;
  if (type !== MULTISIG) {
    if (typeof publicKey.key !== 'string') return undefined;
    const key = Buffer.from(publicKey.key, 'base64');
    return Buffer.concat([aminoPrefix(name), varint(key.length), key]);
  }
  const { threshold, public_keys: members } = publicKey;
  if (typeof threshold !== 'number' || !Number.isSafeInteger(threshold) || threshold < 0) return undefined;
  if (!Array.isArray(members)) return undefined;
  const parts = [aminoPrefix(name)];
  if (threshold > 0) parts.push(Buffer.from([0x08]), varint(threshold));
  for (const member of members) {
    const encoded = typeof member === 'object' && member ? aminoEncode(member, depth + 1) : undefined;
    if (!encoded) return undefined;
    parts.push(Buffer.from([0x12]), varint(encoded.length), encoded);
  }
  return Buffer.concat(parts);
}

/** Amino's four bytes for a name: of its sha256, skip zeros, three bytes, and zeros again. */
function aminoPrefix(name: string): Buffer {
  const hash = sha256(Buffer.from(name));
  const afterZeros = (from: number) => hash.findIndex((byte, index) => index >= from && byte !== 0);
  const start = afterZeros(afterZeros(0) + 3);
  return hash.subarray(start, start + 4);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
