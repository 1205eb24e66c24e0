import type { DecodedBlock } from '../decode/block.js';
import type { BalanceAnswer, BalanceQuestion } from '../node/erc20.js';
import { type Balance, clampAmount, type Holding, type HoldingKey, holdingKey } from './balance.js';
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
  /** What balances were set to after blocks, by height, in the order in which that was done. */
  readonly heals: ReadonlyMap<number, readonly (Holding & { readonly amount: bigint })[]>;
  /** Logs up to this height are in the balances already. */
  readonly seed_height: number;
  readonly onMisfit: (holding: Holding, height: number) => void;
}

/**
 * The holdings that blocks touch and nobody knows, each at the block that touches it first.
 *
 * @param seed_height blocks up to here are in the state that was begun with; what they touch
 *   and that state does not tell (tokens that are no bank denoms) is asked at that height.
 */
export function firstQuestions(
  blocks: readonly DecodedBlock[],
  seed_height: number,
  isKnown: (key: HoldingKey, isSeeded: boolean) => boolean,
): BalanceQuestion[] {
  const questions = new Map<HoldingKey, BalanceQuestion>();
  for (const { height, deltas } of blocks)
    for (const [token, accounts] of deltas)
      for (const account of accounts.keys()) {
        const key = holdingKey(token, account);
        if (!questions.has(key) && !isKnown(key, height <= seed_height))
          questions.set(key, { token, account, height: Math.max(height, seed_height) });
      }
  return [...questions.values()];
}

/**
 * Folds blocks into a batch: one change per holding and block, also where the amount stays,
 * so that whatever was touched is compared with the node later.
 *
 * @param turn awaited between holdings: it lets others have the event loop.
 * @returns the cursor rows of the blocks.
 */
export async function changesOfBlocks(
  batch: Batch,
  blocks: readonly DecodedBlock[],
  { current, first, heals, seed_height, onMisfit }: FoldStart,
  turn: () => Promise<void> | undefined,
): Promise<{ height: number; hash: string; last_ord: number }[]> {
  const cursors: { height: number; hash: string; last_ord: number }[] = [];
  for (const { height, hash, deltas } of blocks) {
    for (const [token, accounts] of deltas)
      for (const [account, delta] of accounts) {
        await turn();
        const key = holdingKey(token, account);
        const holding = { token, account };
        const before = current.get(key);
        const told = first.get(key);
        if (height <= seed_height) {
          if (before !== undefined || batch.ends.has(key)) continue; // the seed has it
          const isTold = typeof told?.answer === 'bigint';
          const guess = seed_height === 1 ? delta : 0n;
          const { amount } = clampAmount(isTold ? (told.answer as bigint) : guess);
          // A guess counts as read from logs, so that it is compared with the node.
          addChange(batch, holding, undefined, seed_height, amount, isTold ? 'seed' : 'log');
          continue;
        }
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
    for (const { token, account, amount } of heals.get(height) ?? []) {
      const before = current.get(holdingKey(token, account));
      addChange(batch, { token, account }, before, height, amount, 'heal');
    }
    cursors.push({ height, hash, last_ord: batch.last_ord });
  }
  return cursors;
}
