import { type AccountKey, keyOfHexDigits } from '../../common/chain/address.js';
import { isObject, stringOf, type TxEvent } from '../../common/chain/events.js';
import { parseInnerJson } from '../../common/util/bounded-input.js';
import type { StoreOwner } from './types.js';

const STORE_CREATED = '0x1::primary_fungible_store::PrimaryStoreCreatedEvent';

/** A member of a Move event that names a store: store_addr, store, from_store_addr... */
const STORE_MEMBER = /"(?:\w+_)?store(?:_addr)?":"0x([0-9a-fA-F]{1,64})"/g;

/** The fungible stores that Move events name, distinct, in order, until there are so many. */
export function storesNamed(events: TxEvent[], most: number): AccountKey[] {
  const stores = new Set<AccountKey>();
  for (const data of moveData(events)) {
    for (const match of data.matchAll(STORE_MEMBER)) {
      stores.add(keyOfHexDigits(match[1] ?? ''));
      if (stores.size >= most) return [...stores];
    }
  }
  return [...stores];
}

/** The primary stores that events say were created, each with its owner. */
export function storesCreated(events: TxEvent[]): StoreOwner[] {
  const created: StoreOwner[] = [];
  for (const data of moveData(events, STORE_CREATED)) {
    const pair = storeOwner(data);
    if (pair) created.push(pair);
  }
  return created;
}

/** The `data` texts of `move` events, of one type or of all. */
function moveData(events: TxEvent[], type?: string): string[] {
  return events
    .filter((event) => event.type === 'move')
    .filter((event) => type === undefined || attribute(event, 'type_tag') === type)
    .map((event) => attribute(event, 'data'));
}

function storeOwner(data: string): StoreOwner | undefined {
  try {
    const event: unknown = parseInnerJson(data);
    const store = isObject(event) ? moveAddress(event['store_addr']) : undefined;
    const owner = isObject(event) ? moveAddress(event['owner_addr']) : undefined;
    return store && owner ? { store, owner } : undefined;
  } catch {
    return undefined;
  }
}

function moveAddress(value: unknown): AccountKey | undefined {
  const digits = /^0x([0-9a-fA-F]{1,64})$/.exec(stringOf(value))?.[1];
  return digits === undefined ? undefined : keyOfHexDigits(digits);
}

/** The first attribute of that key: the node repeats the fields of `data` after it, under any name. */
function attribute(event: TxEvent, key: string): string {
  return event.attributes.find((candidate) => candidate.key === key)?.value ?? '';
}
