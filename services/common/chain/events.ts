/** An event as the API shows it: no nulls, every attribute with its three members. */
export interface TxEvent {
  type: string;
  attributes: EventAttribute[];
}

export interface EventAttribute {
  key: string;
  value: string;
  index: boolean;
}

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

/** The first attribute of a key; '' when there is none. */
export function attributeOf(event: TxEvent, key: string): string {
  return event.attributes.find((candidate) => candidate.key === key)?.value ?? '';
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
