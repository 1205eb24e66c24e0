import { asInteger, asText, asUrl, type Settings } from '../../common/runtime/config.js';
import { hide, type Secret } from './signer.js';

const asSecret = (text: string): Secret | undefined => (text === '' ? undefined : hide(text));

function asSecretUrl(text: string): Secret | undefined {
  const url = asUrl(text);
  return url === '' ? undefined : hide(url);
}

function asWei(text: string): bigint {
  if (!/^\d{1,30}$/.test(text)) throw new Error('must be a whole number of wei');
  return BigInt(text);
}

/** 0x hex of 20 bytes, or ''. */
export function asAddressOrNone(text: string): string {
  if (text !== '' && !/^0x[0-9a-fA-F]{40}$/.test(text)) throw new Error('must be 0x and 40 hex digits');
  return text;
}

/** Who signs txs to the scoring contract: exactly one of the first five. */
export const signerSettings = {
  PRIVATE_KEY: {
    doc: 'Private key of the account that the contract allows, 32 bytes in hex. Never written to a log, an error or an argument list.',
    default: '',
    parse: asSecret,
    secret: true,
  },
  PRIVATE_KEY_FILE: { doc: 'File that holds it, as a mounted secret does.', default: '', parse: asText },
  MNEMONIC: {
    doc: "BIP39 words instead of a private key; the account is m/44'/60'/0'/0/MNEMONIC_INDEX.",
    default: '',
    parse: asSecret,
    secret: true,
  },
  MNEMONIC_FILE: { doc: 'File that holds the words.', default: '', parse: asText },
  SIGNER_URL: {
    doc: 'JSON-RPC URL of an external signer, such as clef, frame or a hardware wallet behind one of them. One that sends by itself has to keep the nonce that it is given: a tx with another counts as not sent.',
    default: '',
    parse: asSecretUrl,
    secret: true,
  },
  MNEMONIC_INDEX: {
    doc: 'Which account of the words, from 0.',
    default: '0',
    parse: asInteger(0, 2 ** 31 - 1),
  },
  SIGNER_ADDRESS: {
    doc: 'Account to use. With an external signer: one of its accounts (default: the first). With a key or words: refused unless it is theirs.',
    default: '',
    parse: asAddressOrNone,
  },
} satisfies Settings;

/** How txs are sent to the scoring contract. */
export const sendSettings = {
  EVM_CHAIN_ID: {
    doc: 'EVM chain id that the rollup must have. Unset: nothing is compared with it; what scores warns when another one would follow from the chain id of the rollup.',
    default: '',
    parse: (text: string): bigint | undefined => {
      if (text === '') return undefined;
      if (!/^([1-9]\d{0,77}|0x[0-9a-fA-F]{1,64})$/.test(text))
        throw new Error('must be a whole number above 0');
      return BigInt(text);
    },
  },
  TX_STUCK_SECONDS: {
    doc: 'After how many seconds without a receipt a tx is replaced by one that pays more.',
    default: '60',
    parse: asInteger(1, 86_400),
  },
  TX_GIVE_UP_SECONDS: {
    doc: 'After how many seconds without a receipt sending ends; the next run goes on from there.',
    default: '600',
    parse: asInteger(1, 86_400),
  },
  TX_GAS_MARGIN_PERCENT: {
    doc: 'What is added to the estimated gas of a tx, in percent.',
    default: '25',
    parse: asInteger(0, 400),
  },
  TX_MAX_GAS_PRICE: {
    doc: 'Highest price of gas that is ever offered, in wei. Where the node asks for more, nothing is sent: alarm GasPriceTooHigh. A program may set its own (rollup.max_gas_price).',
    default: '1000000000000',
    parse: asWei,
  },
  TX_MAX_FEE: {
    doc: 'Highest fee of one tx, gas limit times price, in wei. Above it nothing is sent: alarm GasPriceTooHigh. A program may set its own (rollup.max_tx_fee).',
    default: '1000000000000000000',
    parse: asWei,
  },
  TX_MAX_SCORES: {
    doc: 'Scores in one tx at most; fewer where gas does not suffice.',
    default: '500',
    parse: asInteger(1, 10_000),
  },
} satisfies Settings;
