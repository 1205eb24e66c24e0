import { messageOf } from '../../common/runtime/errors.js';
import type { L1Node, NodeLook } from './node.js';

/** Nodes of the L1 contradict each other, or the clock of this machine. */
export class L1Doubt extends Error {
  override name = 'L1Doubt';
}

/** What nodes answered, each in its place. */
export interface Answers<T> {
  readonly values: readonly { readonly host: string; readonly value: T }[];
  readonly errors: readonly unknown[];
}

/** Asks every node. Never rejects. */
export async function askAll<T>(
  nodes: readonly L1Node[],
  ask: (node: L1Node) => Promise<T>,
): Promise<Answers<T>> {
  const values: { host: string; value: T }[] = [];
  const errors: unknown[] = [];
  for (const [index, answer] of (await Promise.allSettled(nodes.map(ask))).entries()) {
    if (answer.status === 'fulfilled') values.push({ host: nodes[index]!.host, value: answer.value });
    else errors.push(answer.reason);
  }
  return { values, errors };
}

/** Answers that say the same, together. */
export function groupsOf<T>(answers: Answers<T>['values'], same: (value: T) => unknown): T[][] {
  const groups = new Map<string, T[]>();
  for (const { value } of answers) {
    const key = JSON.stringify(same(value), (_, part) => (typeof part === 'bigint' ? String(part) : part));
    groups.set(key ?? '', [...(groups.get(key ?? '') ?? []), value]);
  }
  return [...groups.values()];
}

/**
 * What so many nodes say of stage and time. They agree on the stage; as time counts the latest that so many of them have
 * reached, so that none of them alone can be ahead. A pure function.
 *
 * @throws L1Doubt when they contradict each other; an Error with everything that failed when too few answer.
 */
export function agreedLook({ values, errors }: Answers<NodeLook>, agreeing: number): NodeLook {
  const agreed = groupsOf(values, ({ l1_time: _, ...stage }) => stage)
    .filter((group) => group.length >= agreeing)
    .map((group) => group.sort((a, b) => b.l1_time - a.l1_time)[agreeing - 1]!)
    .sort((a, b) => b.l1_time - a.l1_time);
  const [best] = agreed;
  if (best !== undefined) return best;
  const failed = errors.map(messageOf).join('; ');
  if (values.length < agreeing) {
    const few = `${values.length} of ${agreeing} URLs that have to agree (l1.agreeing_urls) answer`;
    const isOne = values.length + errors.length <= 1 || agreeing === 1;
    const Kind = errors.some((error) => error instanceof L1Doubt) ? L1Doubt : Error;
    throw new Kind(isOne ? failed || 'no L1 URL is configured' : `${few}: ${failed}`);
  }
  const said = values.map(
    ({ host, value }) =>
      `${host} says stage ${value.stage} from ${value.stage_start_time} to ${value.stage_end_time}`,
  );
  throw new L1Doubt(`the L1 URLs do not agree (l1.agreeing_urls is ${agreeing}): ${said.join(', ')}`);
}
