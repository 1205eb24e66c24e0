/** A value as it is written into a URL. */
export interface HostileValue {
  /** As it goes over the wire. */
  readonly raw: string;
  /** What it says after percent-decoding; undefined when it is no UTF-8. */
  readonly text: string | undefined;
}

/** Texts that somebody might send where something else is wanted; percent-encoded on the wire. */
const texts = [
  ...['\0', 'a\0b', '\u0001', '\t', '\n', '\r\n', '\r\nset-cookie: a=b', '\u007f', ' ', '  1', '1 '],
  ...['/', '../..', '..%2f', '//', '.', '..', '\\', "\\'", '\\x00', 'C:\\', '|', ';', ':', '::', '~'],
  ...["'", '"', "''", "' OR 1=1 --", "'; DROP TABLE txs; --", '1; SELECT * FROM system.tables'],
  ...["') UNION ALL SELECT name FROM system.users --", '{x:String}', '{account:String}', '`id`'],
  ...['$(id)', '{{7*7}}', '%', '%%', '%00', '%25', '%s%s%n', '*', '_', '?', '#', '&', '=', 'a=b&c=d', '@'],
  ...['[', ']', '[]', '[[[[[[', '[1,2]', '{}', '{"a":1}', '{"$gt":""}', '<script>alert(1)</script>', '<!--'],
  ...['null', 'undefined', 'NaN', 'Infinity', '-Infinity', 'None', 'nil', '__proto__', 'constructor'],
  ...['-1', '-0', '+1', '0.0', '1.5', '1.0', '1.', '.5', '1e3', '1E3', '1e999', '0x10', '0b1', '0o7', '1_0'],
  ...['1,000', '٣', '１２', '1\u00a0', '9223372036854775808', '18446744073709551616', '9'.repeat(400)],
  ...[
    'yes',
    'on',
    'truee',
    'tru',
    '2',
    '10',
    '-true',
    'TRUE\0',
    '漢字',
    '🐈',
    'ünï',
    'e\u0301',
    '\u202e',
    '\ufeff',
  ],
  ...['init1', 'init1notanaddress', '0x', '0xg', `0x${'f'.repeat(65)}`, `0x${'0'.repeat(63)}`, '1'],
  ...['a'.repeat(3_000), '{'.repeat(1_500), `0x${'a'.repeat(1_000)}`, '%'.repeat(900), '\0'.repeat(1_000)],
];

/** Escapes that are no UTF-8, or no escapes. */
const broken = [
  '%zz',
  '%',
  '%a',
  '%4',
  '%%30',
  '%ff',
  '%c0%af',
  '%ed%a0%80',
  '%f5%80%80%80',
  '%e2%82',
  'a%',
  '%u0041',
];

/** Everything hostile, each once; none is empty. */
export const hostileValues: readonly HostileValue[] = [
  ...texts.map((text) => ({ raw: encodeURIComponent(text), text })),
  ...broken.map((raw) => ({ raw, text: undefined })),
  // Escaped although it need not be, or not although it should.
  { raw: '%61%62', text: 'ab' },
  { raw: '"<>[]{}|^`\\', text: '"<>[]{}|^`\\' },
];

/** Integers and what a whole number from `min` to `max` is by its digits alone. */
export function isWithin(text: string, min: bigint, max: bigint): boolean {
  if (!/^[0-9]+$/.test(text)) return false;
  const value = BigInt(text);
  return value >= min && value <= max;
}
