import { createHash } from 'node:crypto';
import { type AnswerBound, type Endpoints, NodeError, parseNodeJson } from './endpoints.js';
import { sliceMember, splitArray, splitArrayAt } from './json.js';

/** Txs a page of the REST route; more than one page is asked for when a block has more. */
const pageSize = 1000;

/**
 * The decoded txs of a block from `GET {rest}/cosmos/tx/v1beta1/txs/block/{height}`, as the
 * JSON texts that the node wrote. May hold fewer than the block has: the route lags behind
 * the RPC and is known to miss txs.
 *
 * @param expected how many txs the block has, to know when another page is worth asking for.
 * @throws NodeError
 */
export async function fetchDecodedTxs(
  rest: Endpoints,
  height: number,
  expected: number,
  signal: AbortSignal,
  bound?: AnswerBound,
): Promise<string[]> {
  const txs: string[] = [];
  while (txs.length < expected) {
    const path = `/cosmos/tx/v1beta1/txs/block/${height}?pagination.limit=${pageSize}&pagination.offset=${txs.length}`;
    const isFirst = txs.length === 0;
    const page = await rest.ask({ path, signal, bound }, (status, body) =>
      isFirst ? readDecodedTxs(height, status, body) : readFurtherTxs(height, status, body),
    );
    txs.push(...page);
    if (page.length === 0) break;
  }
  return txs;
}

/**
 * Reads a page after the first one. A node that misses txs counts fewer than the block has,
 * and answers an offset that is past its own count with an error: that is the end, and no
 * reason to ask the same again.
 */
export function readFurtherTxs(height: number, status: number, body: string): string[] {
  try {
    return readDecodedTxs(height, status, body);
  } catch (error) {
    if (error instanceof NodeError && error.reason === 'error_answer') return [];
    throw error;
  }
}

/** How the answer begins; what follows the txs is the whole block, which is known already. */
const txsFirst = '{"txs":';

/** Reads one page of decoded txs. @throws NodeError, `behind` when the node does not have that height (yet). */
export function readDecodedTxs(height: number, status: number, body: string): string[] {
  const what = `txs of block ${height}`;
  if (status === 200 && body.startsWith(txsFirst)) {
    try {
      return splitArrayAt(body, txsFirst.length).elements;
    } catch (cause) {
      throw new NodeError('not_json', `${what}: the answer is cut`, undefined, { cause });
    }
  }
  const answer = parseNodeJson(status, body, what) as { txs?: unknown; message?: string; code?: number };
  if (status === 200 && Array.isArray(answer?.txs)) return splitArray(sliceMember(body, 'txs') ?? '[]');
  const said = String(answer?.message ?? '');
  const behind =
    /must not be less than 1 or greater than the current height|not available|invalid height/i.test(said);
  throw new NodeError(behind ? 'behind' : 'error_answer', `${what}: HTTP ${status} ${said.slice(0, 200)}`, {
    code: answer?.code,
    message: said,
  });
}

/** A validator as the proposer of blocks. */
export interface Validator {
  /** First 20 bytes of SHA-256 of the consensus public key, upper-case hex: what block headers name. */
  readonly consensus_address: string;
  readonly operator_address: string;
  readonly moniker: string;
  /** Empty where the chain has none, as on OPinit rollups. */
  readonly identity: string;
}

/** The validators from `GET {rest}/opinit/opchild/v1/validators`. @throws NodeError */
export function fetchValidators(rest: Endpoints, signal: AbortSignal): Promise<Validator[]> {
  return rest.ask({ path: '/opinit/opchild/v1/validators?pagination.limit=1000', signal }, readValidators);
}

/** Reads the validators. @throws NodeError */
export function readValidators(status: number, body: string): Validator[] {
  const answer = parseNodeJson(status, body, 'validators') as {
    validators?: {
      moniker?: unknown;
      operator_address?: unknown;
      consensus_pubkey?: { key?: unknown };
      description?: { moniker?: unknown; identity?: unknown };
    }[];
  };
  if (status !== 200 || !Array.isArray(answer?.validators))
    throw new NodeError('error_answer', `validators: HTTP ${status}`);
  return answer.validators
    .filter((validator) => typeof validator?.consensus_pubkey?.key === 'string')
    .map((validator) => ({
      consensus_address: createHash('sha256')
        .update(Buffer.from(String(validator.consensus_pubkey?.key), 'base64'))
        .digest('hex')
        .slice(0, 40)
        .toUpperCase(),
      operator_address: textOf(validator.operator_address),
      moniker: textOf(validator.moniker ?? validator.description?.moniker),
      identity: textOf(validator.description?.identity),
    }));
}

/** The longest text that the chain lets a validator have: a moniker or an identity is shorter. */
const longestText = 3_000;

/** A text of a validator, which every page of blocks shows. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, longestText) : '');

/** The header by which REST answers for the state after a block. */
export const heightHeader = 'x-cosmos-block-height';

/** How the node ends what a contract itself said: nothing in it is the node's word. */
const saidByContract = 'query wasm contract failed';

const gone = /failed to load state|version does not exist|pruned|lowest height|not available/i;
const notYet = /in the future|greater than the current/i;

/**
 * What an error of the REST API says of the state that was asked for: `gone` where the node has
 * pruned it, `not yet` where the node is behind; undefined where it is about something else.
 */
export function stateProblem(message: string): 'gone' | 'not yet' | undefined {
  if (message.includes(saidByContract)) return undefined;
  if (notYet.test(message)) return 'not yet';
  return gone.test(message) ? 'gone' : undefined;
}
