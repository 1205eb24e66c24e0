/** One place where two JSON values differ. */
export interface Difference {
  /** Where, with `*` for any position in a list: `txs.*.timestamp`. */
  readonly at: string;
  /** undefined where the member is missing. */
  readonly theirs: unknown;
  readonly ours: unknown;
}

/** All places where two JSON values differ; the order of members in an object makes no difference. */
export function differences(theirs: unknown, ours: unknown, at = ''): Difference[] {
  if (Object.is(theirs, ours)) return [];
  if (!isContainer(theirs) || !isContainer(ours) || Array.isArray(theirs) !== Array.isArray(ours))
    return [{ at, theirs, ours }];
  const isList = Array.isArray(theirs);
  return [...new Set([...Object.keys(theirs), ...Object.keys(ours)])].flatMap((member) =>
    differences(theirs[member], ours[member], `${at}${at === '' ? '' : '.'}${isList ? '*' : member}`),
  );
}

const isContainer = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
