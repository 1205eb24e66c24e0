/** An event of a tx as the API shows it: no nulls, every attribute with its three members. */
export interface TxEvent {
  type: string;
  attributes: EventAttribute[];
}

export interface EventAttribute {
  key: string;
  value: string;
  index: boolean;
}

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

/** The events of a tx or a block; anything that is no event is left out. */
export function parseEvents(events: unknown): TxEvent[] {
  return listOf(events).map((event) => ({
    type: stringOf(event['type']),
    attributes: listOf(event['attributes']).map((attribute) => ({
      key: stringOf(attribute['key']),
      value: stringOf(attribute['value']),
      index: attribute['index'] === true,
    })),
  }));
}

/** Whether a parsed value is an object whose members can be looked at. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list; an empty list for anything else. */
export function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** A string as it is, '' for anything else. */
export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function integerText(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : stringOf(value);
  return /^-?\d+$/.test(text) ? text : '0';
}
