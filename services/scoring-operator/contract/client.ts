import { ZeroAddress } from 'ethers';
import type { Score } from '../policy/result.js';
import { scoreInterface } from './artifact.js';
import { type BlockPin, callAt, fetchHead } from './at-block.js';
import type { ContractStage, ContractState, ScoreContract } from './contract.js';
import { ContractError, describeRevert, type Revert } from './errors.js';
import { type EvmRpc, fromQuantity, RpcAnswerError } from './rpc.js';
import { withChecksum } from './signer.js';

/** What the client is made of. */
export interface ContractOptions {
  readonly rpc: EvmRpc;
  /** Address of the contract in any spelling. */
  readonly address: string;
  /** Account that updates are estimated for: who will send them. */
  readonly from: string;
  /** Rows that are asked for at once, at first; halved where the node cannot give as many. */
  readonly page_size?: number | undefined;
  /** Scores of a stage that are read at most; for tests. */
  readonly most_scores?: number | undefined;
}

/** Rows of a page. Nodes of rollups stop a call at 3 million gas by default, some 400 rows. */
const defaultPageSize = 200;

/**
 * Scores of a stage that are read at most: some ten times what the blocks of a day have room for. Without an end, a contract or
 * a node that always has further ones would be read for ever, without a word.
 */
const mostScores = 2_000_000;

/** Calldata of an update. */
export const encodeUpdate = (stage: bigint, scores: readonly Score[]): string =>
  scoreInterface.encodeFunctionData('updateScores', [
    stage,
    scores.map(({ address }) => address),
    scores.map(({ amount }) => amount),
  ]);

/** Calldata that finalizes a stage. */
export const encodeFinalize = (stage: bigint): string =>
  scoreInterface.encodeFunctionData('finalizeStage', [stage]);

/**
 * A scoring contract over JSON-RPC, ours or one of the older kinds.
 *
 * Its reads throw NodeError while the node gives no usable answer, and ContractError
 * `no_contract` when something else, or nothing, is at the address.
 */
export function createScoreContract(options: ContractOptions): ScoreContract {
  const { rpc, from } = options;
  const address = withChecksum(options.address);

  const notAContract = async (name: string): Promise<ContractError> => {
    const code = await rpc.call('eth_getCode', [address, 'latest']);
    const what =
      code === '0x'
        ? 'there is no contract'
        : `what is there is no scoring contract: ${name} gave nothing usable`;
    return new ContractError('no_contract', `${address}: ${what}`);
  };

  const at = (block: BlockPin, signal?: AbortSignal): ContractState => {
    const call = async (name: string, args: readonly unknown[]): Promise<unknown[] | undefined> => {
      const data = scoreInterface.encodeFunctionData(name, args);
      return decodeResult(name, await callAt(rpc, block, 'eth_call', [{ from, to: address, data }], signal));
    };

    /** Reads a function that every kind has. */
    const read = async (name: string, args: readonly unknown[]): Promise<unknown[]> => {
      let result: unknown[] | undefined;
      try {
        result = await call(name, args);
      } catch (error) {
        if (!(error instanceof RpcAnswerError)) throw error;
        const explained = error.explain(`${name} of ${address}`);
        if (explained.kind !== 'reverted') throw explained;
      }
      if (result === undefined) throw await notAContract(name);
      return result;
    };

    const readStage = async (stage: bigint): Promise<ContractStage | undefined> => {
      const [number, total_score, is_finalized] = await read('stages', [stage]);
      if (number === 0n) return undefined;
      return { stage, total_score: total_score as bigint, is_finalized: is_finalized as boolean };
    };

    return {
      height: typeof block === 'number' ? block : block.height,
      stage: readStage,
      async isAllowed(account) {
        const [allowed] = await read('allowList', [account]);
        return allowed as boolean;
      },
      async initStage() {
        try {
          const result = await call('initStage', []);
          if (result !== undefined) return result[0] as bigint;
        } catch (error) {
          if (!(error instanceof RpcAnswerError)) throw error;
          const explained = error.explain('initStage');
          if (explained.kind !== 'reverted') throw explained;
        }
        // The oldest kind has no such function; something else has no stages either.
        await readStage(1n);
        return undefined;
      },
      async scores(stage) {
        const scores: Score[] = [];
        const seen = new Set<string>();
        let limit = options.page_size ?? defaultPageSize;
        for (;;) {
          let page: Row[];
          try {
            const result = await call('getScores', [stage, scores.length, limit]);
            if (result === undefined) throw await notAContract('getScores');
            page = result[0] as Row[];
          } catch (error) {
            // A page that costs more gas than the node gives to a call fails in many words.
            if (!(error instanceof RpcAnswerError) || limit === 1) throw explained(error, address);
            limit = Math.max(1, Math.floor(limit / 2));
            continue;
          }
          const rows = page.slice(0, limit).filter((row) => row[0] !== ZeroAddress);
          for (const [addr, amount] of rows) {
            const lower = addr.toLowerCase();
            // A contract that ignores the offset would give the same page for ever.
            if (seen.has(lower))
              throw new ContractError('no_contract', `${address}: getScores gives ${addr} twice`);
            seen.add(lower);
            scores.push({ address: lower, amount });
          }
          if (rows.length < limit) return scores;
          if (scores.length >= (options.most_scores ?? mostScores))
            throw new ContractError(
              'no_contract',
              `${address}: getScores gives more than ${scores.length} scores of stage ${stage}`,
            );
        }
      },
    };
  };

  const estimate = async (what: string, stage: bigint, data: string): Promise<bigint> => {
    try {
      return fromQuantity(
        await rpc.call('eth_estimateGas', [{ from, to: address, data }]),
        'eth_estimateGas',
      );
    } catch (error) {
      if (!(error instanceof RpcAnswerError)) throw error;
      const failure = error.explain(what);
      throw failure.kind === 'reverted'
        ? await withReason(failure, what, { stage, data }, contract, from)
        : failure;
    }
  };

  const newest = async (): Promise<ContractState> => at(await fetchHead(rpc));

  const contract: ScoreContract = {
    address,
    head: (at_least, signal) => fetchHead(rpc, at_least, signal),
    at,
    initStage: async () => (await newest()).initStage(),
    stage: async (stage) => (await newest()).stage(stage),
    isAllowed: async (account) => (await newest()).isAllowed(account),
    scores: async (stage) => (await newest()).scores(stage),
    estimateUpdate: (stage, scores) =>
      estimate(`update of ${scores.length} scores of stage ${stage}`, stage, encodeUpdate(stage, scores)),
    estimateFinalize: (stage) => estimate(`finalizing stage ${stage}`, stage, encodeFinalize(stage)),
  };
  return contract;
}

type Row = readonly [string, bigint, bigint];

/** The values that a function gave; undefined when the bytes are not what it gives. */
function decodeResult(name: string, result: unknown): unknown[] | undefined {
  if (typeof result !== 'string' || result === '0x') return undefined;
  try {
    return [...scoreInterface.decodeFunctionResult(name, result)];
  } catch {
    return undefined;
  }
}

function explained(error: unknown, address: string): unknown {
  return error instanceof RpcAnswerError ? error.explain(`getScores of ${address}`) : error;
}

/** An update or a finalization: the stage, and the calldata. */
export interface Write {
  readonly stage: bigint;
  readonly data: string;
}

/**
 * Why the contract refused, worked out from its state, for nodes that say "Reverted" and keep the
 * contract's error to themselves.
 */
export async function withReason(
  failure: ContractError,
  what: string,
  write: Write,
  contract: Pick<ScoreContract, 'head' | 'at'>,
  from: string,
): Promise<ContractError> {
  if (failure.revert !== undefined && failure.revert.name !== '') return failure;
  const revert = await likelyRevert(write, contract.at(await contract.head(0)), from);
  if (revert === undefined) return failure;
  return new ContractError('reverted', `${what}: ${describeRevert(revert)}`, revert, failure.tx_hashes);
}

async function likelyRevert(
  { stage, data }: Write,
  contract: ContractState,
  from: string,
): Promise<Revert | undefined> {
  if (!(await contract.isAllowed(from))) return { name: 'PermissionDenied', args: [withChecksum(from)] };
  if (stage === 0n) return { name: 'ZeroStage', args: [] };
  const state = await contract.stage(stage);
  if (state?.is_finalized) return { name: 'StageFinalized', args: [stage] };
  if (data.startsWith(finalizeSelector)) {
    const before = await contract.stage(stage - 1n);
    if (before?.is_finalized === false) return { name: 'PreviousStageNotFinalized', args: [stage - 1n] };
  }
  return state === undefined ? { name: 'StageNotFound', args: [stage] } : undefined;
}

const finalizeSelector = encodeFinalize(0n).slice(0, 10);
