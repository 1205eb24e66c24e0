import { type Random, randomFrom } from '../random.js';
import type { RawRequest } from '../raw-http.js';
import { type ApiRoute, pathOf } from './routes.js';
import { hostileValues } from './texts.js';

/** Names that a query may carry on some route, and some that none knows. */
const names = [
  ...[
    'pagination.key',
    'pagination.offset',
    'pagination.limit',
    'pagination.reverse',
    'pagination.count_total',
  ],
  ...['msgs', 'is_signer', 'limit', 'order_by', 'pagination', '', '__proto__'],
];

const plausible = [
  ...[
    '0',
    '1',
    '2',
    '7',
    '50',
    '100',
    '1000',
    '1001',
    'true',
    'false',
    'TRUE',
    '',
    '157',
    '9007199254740993',
  ],
  ...['minievm.evm.v1.MsgCall', '/cosmos.bank.v1beta1.MsgSend', 'minievm.evm.v1.MsgCall,a.b'],
];

const codings = ['gzip', 'br', 'gzip, br', 'identity', '*', 'br;q=0, gzip;q=0.5', 'x', 'gzip;q=abc'];

/**
 * Requests at random, the same ones for the same seed: mostly plausible, with hostile values,
 * broken escapes, keys from anywhere and odd headers mixed in.
 *
 * @param keys page keys that some lists gave.
 */
export function* fuzzRequests(
  seed: number,
  routes: readonly ApiRoute[],
  keys: readonly string[],
): Generator<RawRequest> {
  const random = randomFrom(seed);
  for (;;) {
    const route = random.pick(routes);
    const path = random.oneIn(3) ? pathOf(route, valueFrom(random, keys) || '0') : pathOf(route);
    const pairs = Array.from({ length: random.integer(6) }, () => {
      const own = Object.keys(route.query);
      const name = own.length > 0 && !random.oneIn(5) ? random.pick(own) : random.pick(names);
      return random.oneIn(15) ? name : `${name}=${valueFrom(random, keys)}`;
    });
    const query = pairs.join(random.oneIn(20) ? ';' : '&');
    const slashed = random.oneIn(10) ? path.replaceAll('/', '//') : path;
    yield {
      method: random.oneIn(12) ? random.pick(['HEAD', 'OPTIONS', 'POST', 'DELETE']) : 'GET',
      target: random.oneIn(25) ? cut(slashed, random) : `${slashed}${pairs.length > 0 ? '?' : ''}${query}`,
      headers: headersFrom(random),
    };
  }
}

function valueFrom(random: Random, keys: readonly string[]): string {
  switch (random.integer(6)) {
    case 0:
      return random.pick(hostileValues).raw;
    case 1:
      return random.pick(keys);
    case 2:
      return mutated(random.pick([...keys, ...plausible]), random);
    case 3:
      return String(random.integer(2 ** 31));
    default:
      return random.pick(plausible);
  }
}

/** A text with one character replaced by any byte, escaped. */
function mutated(text: string, random: Random): string {
  const at = random.integer(text.length + 1);
  const byte = `%${random.integer(256).toString(16).padStart(2, '0')}`;
  return text.slice(0, at) + byte + text.slice(at + 1);
}

const cut = (text: string, random: Random): string => text.slice(0, 1 + random.integer(text.length));

function headersFrom(random: Random): [string, string][] {
  const headers: [string, string][] = [];
  if (random.oneIn(3)) headers.push(['accept-encoding', random.pick(codings)]);
  if (random.oneIn(8)) headers.push(['if-none-match', random.pick(['*', '"x"', 'W/"y"', ''])]);
  if (random.oneIn(8)) headers.push(['origin', random.pick(['https://a.example', 'null', 'x'])]);
  if (random.oneIn(8)) headers.push(['accept', random.pick(['text/plain', '*/*', 'application/xml', ';;'])]);
  if (random.oneIn(20)) headers.push(['x-request-id', random.pick(['ok-1', 'not ok', '{}'])]);
  return headers;
}
