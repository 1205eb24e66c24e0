import { keccak256, toUtf8Bytes } from 'ethers';
import { type Endpoints, NodeError, parseNodeJson } from '../../common/chain/endpoints.js';
import { rpcBody } from '../../common/chain/evm.js';
import { type ContractError, explainFailure, type RpcFailure } from './errors.js';

/** A node said no. Not for the outside: callers turn it into a ContractError, or know what to do. */
export class RpcAnswerError extends Error {
  override name = 'RpcAnswerError';

  constructor(
    readonly method: string,
    readonly failure: RpcFailure,
  ) {
    super(`${method}: ${failure.code ?? ''} ${failure.message.slice(0, 200)}`);
  }

  /** In the terms of the contract. */
  explain(what: string): ContractError {
    return explainFailure(what, this.failure);
  }
}

/** JSON-RPC to the rollup, with the data of error answers, which the indexer's own calls have no use for. */
export interface EvmRpc {
  /** @throws RpcAnswerError when the node says no; NodeError when it gives no usable answer. */
  call(method: string, params: readonly unknown[], options?: CallOptions): Promise<unknown>;
}

/** What a node said: a result, or no. */
export type RpcAnswer = { readonly result: unknown } | { readonly failure: RpcFailure };

/** How a call is made. */
export interface CallOptions {
  /** How often it is sent at most while the connection fails. */
  readonly attempts?: number;
  /** Throws a NodeError for an answer that this node should not have given: it then counts against the URL. */
  readonly check?: (answer: RpcAnswer) => void;
  /** Ends this call, instead of the signal that ends all calls. */
  readonly signal?: AbortSignal | undefined;
}

/** JSON-RPC over the URLs of the rollup. The signal ends what is under way. */
export function createEvmRpc(jsonRpc: Endpoints, signal?: AbortSignal): EvmRpc {
  return {
    async call(method, params, { attempts, check, signal: own = signal } = {}) {
      const request = { path: '', body: rpcBody(method, params), signal: own, attempts };
      const answer = await jsonRpc.ask(request, (status, body) => {
        const read = readAnswer(method, status, body);
        check?.(read);
        return read;
      });
      if ('failure' in answer) throw new RpcAnswerError(method, answer.failure);
      return answer.result;
    },
  };
}

/**
 * Reads an answer. An error of the node is a result here, so that it does not count against the
 * URL; overload and a node that is not ready are the URL's failure.
 */
function readAnswer(method: string, status: number, body: string): RpcAnswer {
  const answer = parseNodeJson(status, body, method) as {
    result?: unknown;
    error?: { code?: unknown; message?: unknown; data?: unknown } | null;
  } | null;
  const error = answer?.error;
  if (error !== undefined && error !== null) {
    const message = String(error.message ?? '');
    const code = typeof error.code === 'number' ? error.code : undefined;
    if (status === 429 || status >= 502 || /readiness error|rate limit|too many requests/i.test(message)) {
      throw new NodeError('http_error', `${method}: HTTP ${status} ${message.slice(0, 200)}`, {
        code,
        message,
      });
    }
    return { failure: { code, message, data: error.data } };
  }
  if (status !== 200 || answer === null || typeof answer !== 'object' || answer.result === undefined) {
    throw new NodeError('http_error', `${method}: HTTP ${status} without a result`);
  }
  return { result: answer.result };
}

/** 0x hex of a quantity. */
export const toQuantity = (value: bigint | number): string => `0x${value.toString(16)}`;

/** A quantity that the node wrote. @throws NodeError for anything else */
export function fromQuantity(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value)) {
    throw new NodeError('not_json', `${what}: ${JSON.stringify(value)?.slice(0, 80)} is no quantity`);
  }
  return BigInt(value);
}

/** The number of a block that the node wrote. @throws NodeError for anything else, and for one that no chain can reach */
export function fromHeight(value: unknown, what: string): number {
  const height = Number(fromQuantity(value, what));
  if (!Number.isSafeInteger(height))
    throw new NodeError('contradicts', `${what}: there is no block ${value}`);
  return height;
}

/** EVM chain id of the rollup. @throws NodeError, RpcAnswerError */
export async function fetchChainId(rpc: EvmRpc): Promise<bigint> {
  return fromQuantity(await rpc.call('eth_chainId', []), 'eth_chainId');
}

/** Above this, wallets take no chain id. */
const chainIds = 4_503_599_627_370_476n;

/** The EVM chain id that a rollup of this family makes of its chain id: the first 8 bytes of its hash, cut for wallets. */
export function derivedChainId(chain_id: string): bigint {
  return BigInt(keccak256(toUtf8Bytes(chain_id)).slice(0, 18)) % chainIds;
}
