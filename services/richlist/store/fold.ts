import { clampAmount } from '../amount.js';
import type { DecodedBlock } from '../decode/block.js';
import type { BalanceAnswer, BalanceQuestion } from '../node/erc20.js';
import { type Balance, type Holding, type HoldingKey, holdingKey } from './balance.js';
import { addChange, type Batch } from './rows.js';

/** What folding blocks into balances starts from. */
export interface FoldStart {
  /** Balances before the first block, of those holdings that ever changed. */
  readonly current: ReadonlyMap<HoldingKey, Balance>;
  /** What the node says of holdings that no row tells of, after the block that first touches them. */
  readonly first: ReadonlyMap<
    HoldingKey,
    { readonly height: number; readonly answer: BalanceAnswer | undefined }
  >;
  /** Logs up to this height are in the balances already. */
  readonly seed_height: number;
  readonly onMisfit: (holding: Holding, height: number) => void;
}

/** The holdings that blocks touch and nobody knows, each at the block that touches it first. */
export function firstQuestions(
  blocks: readonly DecodedBlock[],
  isKnown: (key: HoldingKey) => boolean,
): BalanceQuestion[] {
  const questions = new Map<HoldingKey, BalanceQuestion>();
  for (const { height, deltas } of blocks)
    for (const [token, accounts] of deltas)
      for (const account of accounts.keys()) {
        const key = holdingKey(token, account);
        if (!questions.has(key) && !isKnown(key)) questions.set(key, { token, account, height });
      }
  return [...questions.values()];
}

/**
 * Folds blocks into a batch: one change per holding and block, also where the amount stays,
 * so that whatever was touched is compared with the node later.
 *
 * @returns the cursor rows of the blocks.
 */
export function changesOfBlocks(
  batch: Batch,
  blocks: readonly DecodedBlock[],
  { current, first, seed_height, onMisfit }: FoldStart,
): { height: number; hash: string; last_ord: number }[] {
  return blocks.map(({ height, hash, deltas }) => {
    for (const [token, accounts] of height > seed_height ? deltas : [])
      for (const [account, delta] of accounts) {
        const key = holdingKey(token, account);
        const holding = { token, account };
        const before = current.get(key);
        const told = first.get(key);
        let base = batch.ends.get(key)?.balance.amount ?? before?.amount;
        if (base === undefined && typeof told?.answer === 'bigint') {
          base = clampAmount(told.answer - delta).amount;
          // What the account had before anybody looked, so that earlier heights have it too.
          if (base > 0n) addChange(batch, holding, undefined, seed_height, base, 'seed');
        }
        const { amount, fits } = clampAmount((base ?? 0n) + delta);
        if (!fits) onMisfit(holding, height);
        addChange(batch, holding, before, height, amount, 'log');
      }
    return { height, hash, last_ord: batch.last_ord };
  });
}
