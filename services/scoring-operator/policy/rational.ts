/** An exact number that is not negative. */
export interface Rational {
  readonly numerator: bigint;
  /** Above 0. */
  readonly denominator: bigint;
}

/** The number of a whole or decimal text such as 12 or 0.25. @throws RangeError for anything else. */
export function parseDecimal(text: string): Rational {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text);
  if (match === null) throw new RangeError(`${JSON.stringify(text)} is no decimal number`);
  const fraction = match[2] ?? '';
  return reduce(BigInt(`${match[1]}${fraction}`), 10n ** BigInt(fraction.length));
}

/** A fraction in lowest terms. */
export function reduce(numerator: bigint, denominator: bigint): Rational {
  const divisor = gcd(numerator, denominator);
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

/** The least number that both divide. */
export const lcm = (a: bigint, b: bigint): bigint => (a / gcd(a, b)) * b;

function gcd(a: bigint, b: bigint): bigint {
  let [larger, smaller] = [a, b];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}

/** Digits after the point that people are shown. */
const digitsShown = 6;

/** A fraction for people: thousands apart, cut after six decimals, with ≈ in front when it is cut. */
export function showFraction(numerator: bigint, denominator: bigint): string {
  const scaled = (numerator * 10n ** BigInt(digitsShown)) / denominator;
  const isExact = scaled * denominator === numerator * 10n ** BigInt(digitsShown);
  const digits = scaled.toString().padStart(digitsShown + 1, '0');
  const fraction = digits.slice(-digitsShown).replace(/0+$/, '');
  const whole = showWhole(BigInt(digits.slice(0, -digitsShown)));
  return `${isExact ? '' : '≈'}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** A whole number for people: 1250 is 1,250. */
export const showWhole = (value: bigint): string => value.toString().replace(/\B(?=(\d{3})+$)/g, ',');
