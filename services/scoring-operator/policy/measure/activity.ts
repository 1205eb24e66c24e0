import type { TxActivity } from '../../../common/gen/indexer/tx/v1/activity.js';
import type { CallsRule, Rule, TransactionsRule } from '../policy.js';
import { createTally, type Tally } from './tally.js';

/** A rule that looks at single transactions. */
export type ActivityRule = TransactionsRule | CallsRule;

/** Whether a rule looks at single transactions. */
export const isActivityRule = (rule: Rule): rule is ActivityRule =>
  rule.kind === 'transactions' || rule.kind === 'gas_used' || rule.kind === 'calls';

/** Measures a rule over transactions, in any order; each must be given once. */
export function activityTally(rule: ActivityRule): { add(tx: TxActivity): void } & Pick<Tally, 'measure'> {
  const tally = createTally();
  const add = rule.kind === 'calls' ? addCalls(rule, tally) : addTransactions(rule, tally);
  return { add, measure: tally.measure };
}

/** 0x hex as the services send it, without the 0x. */
const keyOf = (hex: string): string => hex.slice(2);

function addTransactions(rule: TransactionsRule, tally: Tally): (tx: TxActivity) => void {
  const types = new Set(rule.msg_types);
  return ({ code, gas_used, msgs, signers }) => {
    if (rule.only_successful && code !== 0) return;
    if (types.size > 0 && !msgs.some((type) => types.has(type))) return;
    const value = rule.kind === 'gas_used' ? BigInt(gas_used) : 1n;
    for (const signer of rule.signers === 'first' ? signers.slice(0, 1) : signers)
      tally.add(keyOf(signer), value);
  };
}

function addCalls(rule: CallsRule, tally: Tally): (tx: TxActivity) => void {
  const [contracts, selectors] = [new Set(rule.contracts), new Set(rule.selectors)];
  return ({ code, calls }) => {
    if (rule.only_successful && code !== 0) return;
    for (const { from, to, selector } of calls) {
      if (contracts.size > 0 && !contracts.has(keyOf(to))) continue;
      if (selectors.size > 0 && !selectors.has(selector)) continue;
      tally.add(keyOf(from), 1n);
    }
  };
}
