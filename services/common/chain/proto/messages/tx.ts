import type { Enums, Schema } from '../decode.js';

const COIN = 'cosmos.base.v1beta1.Coin';

/** The envelope of a tx and the public keys in it. */
export const tx: Schema = {
  'cosmos.tx.v1beta1.TxBody': {
    messages: '1 any[]',
    memo: '2 string',
    timeout_height: '3 uint64',
    extension_options: '1023 any[]',
    non_critical_extension_options: '2047 any[]',
  },
  'cosmos.tx.v1beta1.AuthInfo': {
    signer_infos: '1 cosmos.tx.v1beta1.SignerInfo[]',
    fee: '2 cosmos.tx.v1beta1.Fee',
    tip: '3 cosmos.tx.v1beta1.Tip',
  },
  'cosmos.tx.v1beta1.SignerInfo': {
    public_key: '1 any',
    mode_info: '2 cosmos.tx.v1beta1.ModeInfo',
    sequence: '3 uint64',
  },
  'cosmos.tx.v1beta1.ModeInfo': {
    single: '1 cosmos.tx.v1beta1.ModeInfo.Single?',
    multi: '2 cosmos.tx.v1beta1.ModeInfo.Multi?',
  },
  'cosmos.tx.v1beta1.ModeInfo.Single': { mode: '1 enum:SignMode' },
  'cosmos.tx.v1beta1.ModeInfo.Multi': {
    bitarray: '1 cosmos.crypto.multisig.v1beta1.CompactBitArray',
    mode_infos: '2 cosmos.tx.v1beta1.ModeInfo[]',
  },
  'cosmos.tx.v1beta1.Fee': {
    amount: `1 ${COIN}[]`,
    gas_limit: '2 uint64',
    payer: '3 string',
    granter: '4 string',
  },
  'cosmos.tx.v1beta1.Tip': { amount: `1 ${COIN}[]`, tipper: '2 string' },
  'cosmos.base.v1beta1.Coin': { denom: '1 string', amount: '2 int' },
  'cosmos.base.v1beta1.DecCoin': { denom: '1 string', amount: '2 dec' },
  'cosmos.crypto.multisig.v1beta1.CompactBitArray': { extra_bits_stored: '1 uint32', elems: '2 bytes' },
  'cosmos.crypto.multisig.LegacyAminoPubKey': { threshold: '1 uint32', public_keys: '2 any[]' },
  'cosmos.crypto.secp256k1.PubKey': { key: '1 bytes' },
  'cosmos.crypto.secp256r1.PubKey': { key: '1 bytes' },
  'cosmos.crypto.ed25519.PubKey': { key: '1 bytes' },
  'initia.crypto.v1beta1.ethsecp256k1.PubKey': { key: '1 bytes' },
};

/** A mode outside the list is printed as its number: 9999 marks an Ethereum signature. */
export const txEnums: Enums = {
  SignMode: {
    0: 'SIGN_MODE_UNSPECIFIED',
    1: 'SIGN_MODE_DIRECT',
    2: 'SIGN_MODE_TEXTUAL',
    3: 'SIGN_MODE_DIRECT_AUX',
    127: 'SIGN_MODE_LEGACY_AMINO_JSON',
    191: 'SIGN_MODE_EIP_191',
  },
};
