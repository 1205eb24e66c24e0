/**
 * A regular expression of whole numbers as texts, for a schema, which compares only numbers themselves. Leading zeros are
 * as good as none.
 *
 * @param min the least of them, from 0.
 * @param max the greatest.
 */
export function numberPattern(min: number, max: number): string {
  const parts: string[] = [];
  for (let low = min; low <= max; ) {
    const digits = String(low);
    const high = Math.min(max, 10 ** digits.length - 1);
    parts.push(...between(digits, String(high)));
    low = high + 1;
  }
  return `0*(${parts.join('|')})`;
}

/** The same for texts of one length. */
function between(low: string, high: string): string[] {
  const rest = low.length - 1;
  const any = rest === 0 ? '' : `[0-9]${rest === 1 ? '' : `{${rest}}`}`;
  const [first, last] = [Number(low[0]), Number(high[0])];
  const isFromStart = /^0*$/.test(low.slice(1));
  const isToEnd = /^9*$/.test(high.slice(1));
  if (first === last && !(isFromStart && isToEnd))
    return between(low.slice(1), high.slice(1)).map((part) => `${first}${part}`);
  const [from, to] = [isFromStart ? first : first + 1, isToEnd ? last : last - 1];
  return [
    ...(isFromStart ? [] : between(low.slice(1), '9'.repeat(rest)).map((part) => `${first}${part}`)),
    ...(from > to ? [] : [`${from === to ? from : `[${from}-${to}]`}${any}`]),
    ...(isToEnd ? [] : between('0'.repeat(rest), high.slice(1)).map((part) => `${last}${part}`)),
  ];
}
