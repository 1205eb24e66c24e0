import { balanceHistory } from './balances.js';
import { elements, members } from './json.js';
import { canonicalPath, canonicalQuery, isPaged } from './meaning.js';
import { pageOf } from './paging.js';
import type { BlockBodies, CallResult, Exchange, StateAnswer, StateSource } from './types.js';

/** Something recorded at a height; `latest` answers carry the recording's last height. */
interface At<T> {
  height: number;
  value: T;
}

/**
 * State as a recording knows it. A question is found by its meaning (`meaning.ts`), then:
 * - the answer is the recorded one with the greatest height <= the asked one;
 * - when all were recorded later, the earliest of them: state that was not watched is taken as not changing;
 * - account lists go the other way (the earliest recorded at or after the height): an account never
 *   disappears, and one that is missing is worse than one that is empty;
 * - ERC-20 balances are worked out for every height from the Transfer logs, see `balances.ts`.
 */
export function recordedState(exchanges: Exchange[], blocks: BlockBodies[], last: number): StateSource {
  const answers = new Map<string, At<StateAnswer>[]>();
  const calls = new Map<string, At<CallResult>[]>();
  const methods = new Map<string, { result: string } | { error: string }>();
  const rpc = new Map<string, string>();
  for (const e of exchanges) {
    const height = e.height === undefined || Number(e.height) === 0 ? last : Number(e.height);
    if (height > last) continue;
    if (e.api === 'rpc') addRpc(rpc, e);
    else if (e.api === 'rest' && e.path.endsWith('/evm/v1/call')) addRestCall(calls, e, height);
    else if (e.api === 'rest') addRest(answers, e, height);
    else addJsonRpc(calls, methods, e, last);
  }
  for (const list of [...answers.values(), ...calls.values()]) list.sort((a, b) => a.height - b.height);
  const balances = balanceHistory(blocks);
  const contracts = bankContracts(answers);
  const contractsCalled = new Set([...calls.keys()].map((key) => key.split('|')[0]));

  return {
    rest(path, query, height) {
      const key = `${canonicalPath(path)}?${canonicalQuery(query)}`;
      const found = answers.get(key);
      if (!found) return undefined;
      const accounts = /\/auth\/v1beta1\/(accounts|module_accounts)$/.test(path);
      const at = accounts ? later(found, height) : earlier(found, height);
      const derived = balances.bank(path, at, height, contracts);
      const answer = { ...at.value, body: derived ?? at.value.body };
      return isPaged(answer.body) ? pageOf(answer, path, query) : answer;
    },
    call(to, input, height) {
      const key = callKey(to, input);
      const found = calls.get(key);
      const at = found && earlier(found, height);
      const answer = balances.call(key, at, height) ?? at?.value;
      // a contract that was called while recording has code: what nobody asked it is taken as reverting
      return (
        answer ??
        (contractsCalled.has(to.toLowerCase())
          ? { response: '', error: 'Reverted', usedGas: '0' }
          : undefined)
      );
    },
    jsonRpc: (method, params) => methods.get(methodKey(method, params)) ?? methods.get(methodKey(method, [])),
    rpc: (path) => rpc.get(path),
  };
}

/** `to|input`, both lower-case: what a call means. */
export function callKey(to: string, input: string): string {
  return `${to.toLowerCase()}|${input.toLowerCase()}`;
}

function earlier<T>(list: At<T>[], height: number): At<T> {
  return list.findLast((a) => a.height <= height) ?? list[0]!;
}

function later<T>(list: At<T>[], height: number): At<T> {
  return list.find((a) => a.height >= height) ?? list.at(-1)!;
}

/** The ERC-20 contract of each denom that some recorded bank balance shows. */
function bankContracts(answers: Map<string, At<StateAnswer>[]>): Map<string, string> {
  const out = new Map<string, string>();
  for (const [key, list] of answers) {
    if (!key.startsWith('/cosmos/bank/v1beta1/balances/')) continue;
    for (const denom of list.flatMap((a) =>
      [...a.value.body.matchAll(/"denom":"([^"]+)"/g)].map((m) => m[1]!),
    )) {
      if (out.has(denom)) continue;
      const byDenom = `/minievm/evm/v1/contracts/by_denom?${canonicalQuery(new URLSearchParams({ denom }))}`;
      const body = answers.get(byDenom)?.at(-1)?.value.body;
      const address = body && (JSON.parse(body) as { address?: string }).address?.toLowerCase();
      if (address) out.set(denom, address);
    }
  }
  return out;
}

function addRest(answers: Map<string, At<StateAnswer>[]>, e: Exchange, height: number): void {
  const [path = '', search = ''] = splitOnce(e.path, '?');
  const query = new URLSearchParams(search);
  // a page that starts in the middle, or one cut short, is not the whole list: the whole one is kept
  if (query.has('pagination.key') || query.has('pagination.offset')) return;
  const key = `${canonicalPath(path)}?${canonicalQuery(query)}`;
  const list = answers.get(key) ?? [];
  const same = list.findIndex((a) => a.height === height);
  const value = { status: e.status, type: e.contentType, body: e.body };
  if (same < 0) list.push({ height, value });
  else if (e.status === 200 && listLength(e.body) > listLength(list[same]!.value.body))
    list[same] = { height, value };
  answers.set(key, list);
}

function listLength(body: string): number {
  if (!isPaged(body)) return 0;
  const list = [...members(body).values()].find((v) => v.startsWith('['));
  return list ? elements(list).length : 0;
}

function addRestCall(calls: Map<string, At<CallResult>[]>, e: Exchange, height: number): void {
  if (e.status !== 200 || !e.requestBody) return;
  const request = JSON.parse(e.requestBody) as { contract_addr: string; input: string };
  const answer = JSON.parse(e.body) as { response: string; used_gas: string; error: string };
  addCall(calls, callKey(request.contract_addr, request.input), height, {
    response: answer.response,
    error: answer.error,
    usedGas: answer.used_gas,
  });
}

function addJsonRpc(
  calls: Map<string, At<CallResult>[]>,
  methods: Map<string, { result: string } | { error: string }>,
  e: Exchange,
  last: number,
): void {
  const request = JSON.parse(e.requestBody ?? '{}') as { method: string; params?: unknown[] };
  const parsed = members(e.body);
  const result = parsed.get('result');
  const error = parsed.get('error');
  const params = request.params ?? [];
  if (request.method === 'eth_call') {
    const [to, tag] = params as [{ to?: string; data?: string; input?: string }, unknown];
    const height = typeof tag === 'string' && tag.startsWith('0x') ? Number.parseInt(tag, 16) : last;
    addCall(calls, callKey(to.to ?? '', to.data ?? to.input ?? '0x'), height, {
      response: result ? (JSON.parse(result) as string) : '',
      error: error ? (JSON.parse(error) as { message: string }).message : '',
      usedGas: '0',
    });
  } else if (result !== undefined) methods.set(methodKey(request.method, params), { result });
  else if (error !== undefined) methods.set(methodKey(request.method, params), { error });
}

function addCall(calls: Map<string, At<CallResult>[]>, key: string, height: number, value: CallResult): void {
  const list = calls.get(key) ?? [];
  const same = list.find((a) => a.height === height);
  if (!same) list.push({ height, value });
  // the two APIs say the same; only the REST one knows the gas
  else if (same.value.usedGas === '0') same.value.usedGas = value.usedGas;
  calls.set(key, list);
}

function addRpc(rpc: Map<string, string>, e: Exchange): void {
  if (e.method !== 'GET' || e.status !== 200) return;
  const result = e.body.startsWith('{') ? members(e.body).get('result') : undefined;
  if (result) rpc.set(e.path, result);
}

function methodKey(method: string, params: unknown[]): string {
  return `${method} ${JSON.stringify(params).toLowerCase()}`;
}

function splitOnce(text: string, by: string): [string, string] {
  const at = text.indexOf(by);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + by.length)];
}
