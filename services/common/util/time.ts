/**
 * The instant of an RFC 3339 time in nanoseconds since the epoch; any number of fraction
 * digits up to nine, zone Z or an offset.
 *
 * @throws RangeError for anything else.
 */
export function toNanoseconds(time: string): bigint {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(time);
  const milliseconds = match === null ? Number.NaN : Date.parse(`${match[1]}${match[3]}`);
  if (match === null || Number.isNaN(milliseconds))
    throw new RangeError(`${JSON.stringify(time)} is not a time`);
  return BigInt(milliseconds) * 1_000_000n + BigInt((match[2] ?? '').padEnd(9, '0'));
}

/** The same instant with zone Z: clients of the API refuse an offset. Fraction digits are kept. */
export function toUtc(time: string): string {
  if (time.endsWith('Z')) return time;
  const seconds = new Date(Number(toNanoseconds(time) / 1_000_000n)).toISOString().slice(0, 19);
  const fraction = /\.\d+/.exec(time)?.[0] ?? '';
  return `${seconds}${fraction}Z`;
}
