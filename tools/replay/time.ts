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

/** The same time as the REST API spells it (protobuf JSON): 0, 3, 6 or 9 fraction digits. */
export function protoTime(time: string): string {
  const match = /^(.*?)\.(\d{1,9})Z$/.exec(time);
  if (!match) return time;
  const digits = match[2]!.padEnd(9, '0').replace(/(000){1,3}$/, '');
  return digits ? `${match[1]}.${digits}Z` : `${match[1]}Z`;
}
