/** Nanoseconds since 1970 of an RFC 3339 time with up to 9 fraction digits, UTC. */
export function nanoseconds(time: string): bigint {
  const match = /^(.*?)(?:\.(\d{1,9}))?Z$/.exec(time);
  if (!match) throw new Error(`not an RFC 3339 time in UTC: ${time}`);
  return BigInt(Date.parse(`${match[1]}Z`)) * 1_000_000n + BigInt((match[2] ?? '').padEnd(9, '0'));
}

/** The RFC 3339 spelling of nanoseconds since 1970, as Go writes it: trailing zeros of the fraction dropped. */
export function rfc3339(ns: bigint): string {
  const seconds = new Date(Number(ns / 1_000_000_000n) * 1000).toISOString().slice(0, 19);
  const fraction = String(ns % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return fraction ? `${seconds}.${fraction}Z` : `${seconds}Z`;
}
