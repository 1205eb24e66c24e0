/** How the node's JSON printer (Go, gogoproto) spells values that JSON has no type for. */

/** A JSON string with the escapes that Go adds for the sake of HTML. */
export function goString(text: string): string {
  return escapeHtml(JSON.stringify(text));
}

/** JSON text with Go's escapes: the characters in question only ever stand in strings. */
export function escapeHtml(json: string): string {
  return /[<>&\u2028\u2029]/.test(json) ? json.replace(/[<>&\u2028\u2029]/g, escapeUnit) : json;
}

/** RFC 3339 in UTC with 0, 3, 6 or 9 fraction digits. Throws outside the years 1 to 9999. */
export function timestampText(seconds: bigint, nanos: number): string {
  const date = new Date(Number(seconds) * 1000);
  const iso = date.toISOString();
  if (!/^\d{4}-/.test(iso) || nanos < 0 || nanos >= 1e9) throw new RangeError('timestamp out of range');
  return `${iso.slice(0, 19)}${fraction(nanos)}Z`;
}

/** Seconds with 0, 3, 6 or 9 fraction digits and an `s`. */
export function durationText(seconds: bigint, nanos: number): string {
  const negative = seconds < 0n || nanos < 0;
  const whole = seconds < 0n ? -seconds : seconds;
  return `${negative ? '-' : ''}${whole}${fraction(Math.abs(nanos))}s`;
}

/** The decimal number of an integer that counts units of 10^-18. Other texts stay as they are. */
export function decimalText(units: string): string {
  const match = /^(-?)(\d+)$/.exec(units);
  if (!match) return units;
  const [, sign, digits = ''] = match;
  const padded = digits.padStart(19, '0');
  return `${sign}${padded.slice(0, -18)}.${padded.slice(-18)}`;
}

function fraction(nanos: number): string {
  if (nanos === 0) return '';
  const digits = String(nanos).padStart(9, '0');
  const shortened = digits.replace(/(?:000){1,2}$/, '');
  return `.${shortened}`;
}

function escapeUnit(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
