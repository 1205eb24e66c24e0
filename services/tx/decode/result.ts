import { isObject, parseEvents, stringOf, type TxEvent } from '../../common/chain/events.js';

/** An element of block_results.txs_results in the spelling of the Cosmos TxResponse. */
export interface TxResult {
  code: number;
  codespace: string;
  /** Upper-case hex. */
  data: string;
  raw_log: string;
  info: string;
  gas_wanted: string;
  gas_used: string;
  events: TxEvent[];
}

/**
 * Reads the text of a tx result. The node writes null for an empty list, a missing value and
 * the data of a failed tx; here they are the empty list and the empty string. Throws when
 * the text is no JSON object.
 */
export function parseResult(text: string): TxResult {
  const result: unknown = JSON.parse(text);
  if (!isObject(result)) throw new Error('not a JSON object');
  return {
    code: typeof result['code'] === 'number' ? result['code'] : 0,
    codespace: stringOf(result['codespace']),
    data: Buffer.from(stringOf(result['data']), 'base64').toString('hex').toUpperCase(),
    raw_log: stringOf(result['log']),
    info: stringOf(result['info']),
    gas_wanted: integerText(result['gas_wanted']),
    gas_used: integerText(result['gas_used']),
    events: parseEvents(result['events']),
  };
}

/** Stands in for a result that cannot be read. */
export const emptyResult: TxResult = {
  code: 0,
  codespace: '',
  data: '',
  raw_log: '',
  info: '',
  gas_wanted: '0',
  gas_used: '0',
  events: [],
};

/** An amount of gas, which has 64 bits. */
function integerText(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : stringOf(value);
  return /^-?\d{1,20}$/.test(text) ? text : '0';
}
