import { getAddress } from 'ethers';
import { rpcBody } from '../../common/chain/evm.js';
import { checkJson, readBody } from '../../common/util/bounded-input.js';
import { within } from '../../common/util/signal.js';
import { ContractError, readable } from './errors.js';
import { toQuantity } from './rpc.js';
import type { SignedBytes, Signer } from './signer.js';
import { readRaw, type TxFields } from './tx.js';

/** How long a person may take to confirm on a device, in milliseconds. */
const personTimeout_ms = 300_000;

/** How large an answer of a signer may be: raw bytes of a tx in hex, and some words around them. */
const mostBytes = 4 * 1024 * 1024;

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code?: number | undefined; readonly message?: string } | null;
}

/** What signers that keep the key call the same thing: a node's name first, then clef's own. */
const listMethods = ['eth_accounts', 'account_list', 'eth_requestAccounts'];
const signMethods = ['eth_signTransaction', 'account_signTransaction'];

/**
 * A signer behind JSON-RPC. Raw bytes are preferred, because their hash is known before they are
 * sent; a signer that only sends by itself (`eth_sendTransaction`, as frame does) works too.
 *
 * @param address which of its accounts; '' for the first.
 * @throws ContractError `refused` when it cannot be reached or has no such account.
 */
export async function createRemoteSigner(
  url: string,
  address: string,
  signal?: AbortSignal,
): Promise<Signer> {
  const { endpoint, headers, secrets } = withoutCredentials(url);
  const ask: Ask = async (method, params) => {
    const { result, error } = await post(endpoint, headers, method, params, signal);
    if (error === undefined || error === null) return { result };
    return { error: { code: error.code, message: withoutSecrets(error.message, secrets) } };
  };
  const accounts = await listAccounts(ask);
  const wanted =
    address === '' ? accounts[0] : accounts.find((one) => one.toLowerCase() === address.toLowerCase());
  if (wanted === undefined) {
    const has = accounts.length === 0 ? 'no account' : `only ${accounts.slice(0, 5).join(', ')}`;
    throw new ContractError('refused', `the signer at ${hostOf(endpoint)} has ${has}`);
  }
  return {
    address: wanted,
    description: `the signer at ${hostOf(endpoint)}`,
    sign: (tx, beforeSending) => signRemotely(ask, { ...tx, from: wanted }, beforeSending),
  };
}

type Ask = (
  method: string,
  params: readonly unknown[],
) => Promise<{
  readonly result?: unknown;
  readonly error?: { readonly code?: number | undefined; readonly message: string };
}>;

/** A signer's own words, readable, and without what only the two of us know, which it may repeat. */
function withoutSecrets(message: unknown, secrets: readonly string[]): string {
  // Cut first to what can matter, so that a long text costs little.
  let text = String(message ?? '').slice(0, 10_000);
  for (const secret of secrets) text = text.replaceAll(secret, '***');
  return readable(text);
}

async function listAccounts(ask: Ask): Promise<string[]> {
  for (const method of listMethods) {
    const { result, error } = await ask(method, []);
    if (error !== undefined && isUnknownMethod(error)) continue;
    if (error !== undefined) throw new ContractError('refused', `the signer's ${method}: ${error.message}`);
    if (!Array.isArray(result)) continue;
    const addresses = result.map((one) =>
      typeof one === 'string' ? one : (one as { address?: string })?.address,
    );
    const valid = addresses.filter((one): one is string => /^0x[0-9a-fA-F]{40}$/.test(one ?? ''));
    if (valid.length > 0) return valid.map((one) => getAddress(one.toLowerCase()));
  }
  return [];
}

async function signRemotely(
  ask: Ask,
  tx: TxFields,
  beforeSending: () => Promise<void>,
): Promise<SignedBytes> {
  const fields = rpcFields(tx);
  for (const method of signMethods) {
    const { result, error } = await ask(method, [fields]);
    if (error !== undefined && isUnknownMethod(error)) continue;
    if (error !== undefined) throw new ContractError('refused', `the signer's ${method}: ${error.message}`);
    const raw = typeof result === 'string' ? result : (result as { raw?: unknown } | null)?.raw;
    if (typeof raw !== 'string')
      throw new ContractError('refused', `the signer's ${method}: no raw tx in the answer`);
    return checkRaw(raw, tx, method);
  }
  await checkChain(ask, tx.chain_id);
  await beforeSending();
  const { result, error } = await ask('eth_sendTransaction', [fields]);
  if (error !== undefined) {
    throw new ContractError('refused', `the signer's eth_sendTransaction: ${error.message}`);
  }
  if (typeof result !== 'string' || !/^0x[0-9a-f]{64}$/i.test(result)) {
    throw new ContractError('refused', "the signer's eth_sendTransaction: no tx hash in the answer");
  }
  return { tx_hash: result.toLowerCase() };
}

/** A signer that sends by itself chooses the node, too: one of another chain is not asked. @throws ContractError */
async function checkChain(ask: Ask, chain_id: bigint): Promise<void> {
  const { result } = await ask('eth_chainId', []);
  const isKnown = typeof result === 'string' && /^0x[0-9a-f]{1,64}$/i.test(result);
  if (isKnown && BigInt(result) !== chain_id)
    throw new ContractError(
      'refused',
      `the signer sends to EVM chain id ${BigInt(result)}, and the rollup has ${chain_id}`,
    );
}

/** A signer may let a person change a tx; only the price and the gas may be other than what was asked, within our bounds. */
function checkRaw(raw: string, tx: TxFields, method: string): SignedBytes {
  let read: ReturnType<typeof readRaw>;
  try {
    read = readRaw(raw, tx);
  } catch {
    throw new ContractError('refused', `the signer's ${method}: what it gave is no signed tx`);
  }
  if (!read.is_as_asked || read.from.toLowerCase() !== tx.from.toLowerCase()) {
    throw new ContractError('refused', `the signer's ${method}: it signed another tx than the one asked for`);
  }
  return { raw, tx_hash: read.tx_hash, offer: read.offer };
}

function rpcFields(tx: TxFields): Record<string, string> {
  const price =
    'gas_price' in tx.price
      ? { gasPrice: toQuantity(tx.price.gas_price) }
      : {
          maxFeePerGas: toQuantity(tx.price.max_fee),
          maxPriorityFeePerGas: toQuantity(tx.price.max_priority_fee),
        };
  return {
    from: tx.from,
    ...(tx.to === undefined ? {} : { to: tx.to }),
    data: tx.data,
    input: tx.data,
    value: '0x0',
    nonce: toQuantity(tx.nonce),
    gas: toQuantity(tx.gas),
    chainId: toQuantity(tx.chain_id),
    ...price,
  };
}

const isUnknownMethod = ({ code, message }: { code?: number | undefined; message: string }): boolean =>
  code === -32601 ||
  code === 4200 ||
  /not (supported|available|found|exist)|unsupported|does not exist/i.test(message);

/** One request, never sent twice: the second could be a second tx. */
async function post(
  endpoint: string,
  headers: Readonly<Record<string, string>>,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal | undefined,
): Promise<Answer> {
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: rpcBody(method, params),
      // Sent on, it would be sent twice, and perhaps to somebody else.
      redirect: 'error',
      signal: within(personTimeout_ms, signal),
    });
    const body = await readBody((response.body ?? []) as AsyncIterable<Buffer>, mostBytes);
    checkJson(body, mostBytes);
    const answer = JSON.parse(Buffer.from(body).toString()) as Answer | null;
    if (answer === null || typeof answer !== 'object') throw new Error(`HTTP ${response.status}`);
    return answer;
  } catch (error) {
    const why = (error as { cause?: { code?: string } }).cause?.code ?? (error as Error).name;
    throw new LostReply(`the signer at ${hostOf(endpoint)} gave no answer to ${method}: ${why}`);
  }
}

/** A remote signer gave no answer: it may have sent the tx, or not. */
export class LostReply extends Error {
  override name = 'LostReply';
}

/**
 * `user:password@` becomes a header, so that no error of a library can show it.
 *
 * @returns also what nobody else may see of the URL: keys may stand in its path and query, too.
 */
function withoutCredentials(text: string): {
  endpoint: string;
  headers: Record<string, string>;
  secrets: string[];
} {
  const url = new URL(text);
  const { username, password } = url;
  const secrets = [password, decodeURIComponent(password), `${url.pathname}${url.search}`, url.search];
  secrets.push(...url.searchParams.values(), ...url.pathname.split('/').filter(({ length }) => length > 8));
  url.username = '';
  url.password = '';
  const headers: Record<string, string> = {};
  if (username !== '' || password !== '') {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    const encoded = Buffer.from(pair).toString('base64');
    headers['authorization'] = `Basic ${encoded}`;
    secrets.push(encoded);
  }
  return { endpoint: url.href, headers, secrets: secrets.filter(({ length }) => length > 2) };
}

const hostOf = (endpoint: string): string => new URL(endpoint).host;
