import { parseAccount } from '../common/chain/address.js';
import { invalidArgument } from '../common/runtime/errors.js';
import { shown } from './errors.js';
import type { JsonSchema } from './openapi/schema.js';

/** What reading a parameter may depend on. */
export interface ParameterContext {
  /** Prefix of bech32 accounts. */
  readonly account_prefix: string;
}

/** One parameter of a route: where it stands, how it is checked, and what the document says of it. */
export interface Parameter<T> {
  readonly in: 'path' | 'query';
  readonly doc: string;
  readonly schema: JsonSchema;
  /** Shown as an example in the document. */
  readonly example?: string | number | undefined;
  /**
   * The checked value of the decoded texts that were sent: none when it is absent, several
   * when it is repeated. Equal requests give equal values. Throws INVALID_ARGUMENT.
   */
  readonly parse: (texts: readonly string[], name: string, context: ParameterContext) => T;
}

// biome-ignore lint/suspicious/noExplicitAny: a map of parameters of any value type
export type Parameters = Readonly<Record<string, Parameter<any>>>;

/** The values that belong to a map of parameters. */
export type ArgumentsOf<P extends Parameters> = {
  readonly [K in keyof P]: P[K] extends Parameter<infer T> ? T : never;
};

const wrong = (name: string, text: string, rule: string): Error =>
  invalidArgument(`invalid value for ${name}: ${shown(text)} (${rule})`);

/** Of a parameter that is sent more than once, the first counts; an empty one counts as absent. */
const first = (texts: readonly string[]): string => texts[0] ?? '';

/** true, false, 1 or 0 in any case; empty means the default. */
export const booleanParameter = (byDefault: boolean, doc: string): Parameter<boolean> => ({
  in: 'query',
  doc,
  schema: { type: 'boolean', default: byDefault },
  parse: (texts, name) => {
    const text = first(texts);
    if (text === '') return byDefault;
    if (/^(true|1)$/i.test(text)) return true;
    if (/^(false|0)$/i.test(text)) return false;
    throw wrong(name, text, 'must be true, false, 1 or 0');
  },
});

/** A whole number within bounds; beyond what a number holds exactly, the largest such number. */
export const integerParameter = (
  byDefault: number,
  min: number,
  max: number | undefined,
  doc: string,
): Parameter<number> => ({
  in: 'query',
  doc,
  schema: {
    type: 'integer',
    minimum: min,
    ...(max === undefined ? {} : { maximum: max }),
    default: byDefault,
  },
  parse: (texts, name) => {
    const text = first(texts);
    if (text === '') return byDefault;
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= (max ?? Number.POSITIVE_INFINITY))) {
      const rule = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
      throw wrong(name, text, `must be an integer ${rule}`);
    }
    return Math.min(value, Number.MAX_SAFE_INTEGER);
  },
});

/** Any text; empty by default. */
export const textParameter = (doc: string, schema: JsonSchema = { type: 'string' }): Parameter<string> => ({
  in: 'query',
  doc,
  schema,
  parse: first,
});

const maxHeight = 2n ** 63n - 1n;

/** A block height in the path. Beyond what a number holds exactly it stays a bigint. */
export const heightParameter: Parameter<bigint> = {
  in: 'path',
  doc: 'Block height.',
  schema: { type: 'string', pattern: '^[0-9]+$' },
  example: '33',
  parse: (texts, name) => {
    const text = first(texts);
    const digits = /^0*(\d{1,19})$/.exec(text)?.[1];
    const height = digits === undefined ? 0n : BigInt(digits);
    if (height < 1n || height > maxHeight) {
      throw wrong(name, text, 'must be an integer from 1 to 9223372036854775807');
    }
    return height;
  },
};

/** The same for the txs of a block, where the specification has an integer. */
export const txHeightParameter: Parameter<bigint> = {
  ...heightParameter,
  schema: { type: 'integer', minimum: 1 },
  example: 33,
};

/** The height for a call: no block can stand at those that a number cannot hold. */
export const wireHeight = (height: bigint): number =>
  Number(height > BigInt(Number.MAX_SAFE_INTEGER) ? BigInt(Number.MAX_SAFE_INTEGER) : height);

/** A tx hash in the path; the value is lower-case hex without 0x. */
export const hashParameter = (doc: string, example: string): Parameter<string> => ({
  in: 'path',
  doc: `${doc} In any case, with or without 0x.`,
  schema: { type: 'string', pattern: '^(0[xX])?[0-9a-fA-F]{64}$' },
  example,
  parse: (texts, name) => {
    const text = first(texts);
    const hex = /^(?:0x)?([0-9a-f]{64})$/i.exec(text)?.[1];
    if (hex === undefined) throw wrong(name, text, 'must be 64 hexadecimal digits, with or without 0x');
    return hex.toLowerCase();
  },
});

/** The hash of an Ethereum tx in the path. */
export const ethereumHashParameter = hashParameter(
  'Ethereum tx hash.',
  '0x44804c0d2d2d980aaec5200879abc924bb732e8e3855ece550023ff897f601dd',
);

/** An account in the path; the value is 0x and 40 or 64 lower-case digits however it was written. */
export const accountParameter: Parameter<string> = {
  in: 'path',
  doc: 'Account address: bech32 or 0x hex.',
  schema: { type: 'string' },
  example: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  parse: (texts, name, context) => {
    const text = first(texts);
    const key = parseAccount(text, context.account_prefix);
    if (key === undefined) {
      throw wrong(name, text, `must be an address: bech32 with ${context.account_prefix}1, or 0x hex`);
    }
    return `0x${key}`;
  },
};

/** The address of a collection in the path, as an account's. */
export const collectionParameter: Parameter<string> = {
  ...accountParameter,
  doc: 'Address of the collection: bech32 or 0x hex.',
};

/** An account among the query's parameters; '' for none, else as in the path. */
export const optionalAccountParameter = (doc: string): Parameter<string> => ({
  in: 'query',
  doc,
  schema: { type: 'string' },
  parse: (texts, name, context) => (first(texts) === '' ? '' : accountParameter.parse(texts, name, context)),
});

/** Any text in the path. */
export const pathTextParameter = (doc: string, example: string): Parameter<string> => ({
  in: 'path',
  doc,
  schema: { type: 'string' },
  example,
  parse: first,
});

/** One of a few words; empty means the first. */
export const choiceParameter = <const T extends string>(
  byDefault: T,
  words: readonly T[],
  doc: string,
): Parameter<T> => ({
  in: 'query',
  doc,
  schema: { type: 'string', enum: words, default: byDefault },
  parse: (texts, name) => {
    const text = first(texts);
    if (text === '') return byDefault;
    const word = words.find((one) => one === text);
    if (word === undefined) throw wrong(name, text, `must be one of ${words.join(', ')}`);
    return word;
  },
});

/** Message types, sorted, each once, without a leading slash; empty for no filter. */
export const msgsParameter: Parameter<readonly string[]> = {
  in: 'query',
  doc: 'Message types such as `cosmos.bank.v1beta1.MsgSend`: only txs with a message of any of them. Repeated, comma-separated or both; a leading `/` is allowed.',
  schema: { type: 'array', items: { type: 'string' } },
  parse: (texts) =>
    [
      ...new Set(
        texts
          .flatMap((text) => text.split(','))
          .map((type) => type.trim().replace(/^\//, ''))
          .filter((type) => type !== ''),
      ),
    ].sort(),
};
