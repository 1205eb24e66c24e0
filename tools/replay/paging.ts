import { elements, members } from './json.js';
import type { Answer, StateAnswer } from './types.js';

/**
 * A page of a recorded list, paged as Cosmos modules do: limit 100 unless given, `key` or `offset` to start
 * at, `reverse`, `total` only without any parameter or with count_total. Keys are the offset in base64 (real
 * ones are store keys: opaque too). Where the recording itself stops in the middle of a list, the last page
 * keeps the recorded next_key.
 */
export function pageOf(answer: StateAnswer, path: string, query: URLSearchParams): StateAnswer {
  const parts = members(answer.body);
  const name = [...parts].find(([, text]) => text.startsWith('['))?.[0];
  if (!name) return answer;
  const list = elements(parts.get(name)!);
  const recordedKey = (JSON.parse(parts.get('pagination')!) as { next_key: string | null }).next_key;
  const page = members(pageOfList(name, list, path, query, recordedKey));
  for (const [member, text] of page) parts.set(member, text);
  return { ...answer, body: `{${[...parts].map(([k, v]) => `${JSON.stringify(k)}:${v}`).join(',')}}` };
}

/** The same for a list in memory, whose items are JSON texts. `lastKey` is the next_key of the last page. */
export function pageOfList(
  name: string,
  list: readonly string[],
  path: string,
  query: URLSearchParams,
  lastKey: string | null = null,
): string {
  const asked = [...query.keys()].some((k) => k.startsWith('pagination.'));
  const key = query.get('pagination.key');
  const start = key ? keyOffset(key) : Number(query.get('pagination.offset') ?? 0);
  const limit = Number(query.get('pagination.limit') ?? 0) || 100;
  const all = query.get('pagination.reverse') === 'true' ? [...list].reverse() : list;
  const page = all.slice(start, start + limit);
  const more = start + limit < all.length;
  const nextKey = more ? Buffer.from(`at:${start + limit}`).toString('base64') : lastKey;
  // the wasm module counts only when told to
  const countsByItself = !asked && !path.startsWith('/cosmwasm/');
  const total = countsByItself || query.get('pagination.count_total') === 'true' ? all.length : 0;
  const pagination = JSON.stringify({ next_key: nextKey, total: String(total) });
  return `{${JSON.stringify(name)}:[${page.join(',')}],"pagination":${pagination}}`;
}

function keyOffset(key: string): number {
  const offset = /^at:(\d+)$/.exec(Buffer.from(key, 'base64').toString('latin1'))?.[1];
  return offset ? Number(offset) : Number.MAX_SAFE_INTEGER;
}

/**
 * Which txs a page of `/cosmos/tx/v1beta1/txs/block/{H}` holds, as recorded nodes page: without parameters 100;
 * limit alone, or limit and offset together, as asked; offset alone, a key, or reverse give none; an offset at
 * or past the end of a block that has txs is an error.
 */
export function txsPage(
  query: URLSearchParams,
  count: number,
): { from: number; to: number } | { error: string } {
  const limitText = query.get('pagination.limit');
  const offset = Number(query.get('pagination.offset') ?? 0);
  const none = { from: 0, to: 0 };
  if (query.get('pagination.reverse') === 'true' || query.has('pagination.key')) return none;
  if (limitText === null && query.has('pagination.offset')) return none;
  const limit = Number(limitText ?? 0) || 100;
  if (count === 0) return none;
  if (offset >= count) {
    return {
      error: `codespace sdk code 18: invalid request: out of range: cannot paginate ${count} txs with offset ${offset} and limit ${limit}`,
    };
  }
  return { from: offset, to: Math.min(count, offset + limit) };
}

/** A REST answer with an error, in the shape of the gRPC gateway. */
export function restError(kind: string, status: number, code: number, message: string): Answer {
  const text = JSON.stringify(message)
    .replaceAll('<', '\\u003c')
    .replaceAll('>', '\\u003e')
    .replaceAll('&', '\\u0026');
  return {
    status,
    type: 'application/json',
    kind,
    body: `{"code":${code}, "message":${text}, "details":[]}`,
  };
}
