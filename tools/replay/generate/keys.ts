import { createECDH } from 'node:crypto';

/** Prime of the field of secp256k1. */
const p = 2n ** 256n - 2n ** 32n - 977n;

/** A point of secp256k1 other than zero. */
export interface Point {
  x: bigint;
  y: bigint;
}

/**
 * Public keys of the private keys first, first + 1, ... The list is doubled by adding a multiple of the
 * generator to all of it, with one inversion for each doubling: microseconds a key, where making keys one by one
 * takes more than half a millisecond each.
 *
 * @param first 32 bytes as hex, far from the ends of the group
 */
export function publicKeys(first: string, count: number): Point[] {
  const keys = [publicKey(first)];
  let step = publicKey('1'.padStart(64, '0'));
  while (keys.length < count) {
    keys.push(...addToAll(keys, step));
    step = twice(step);
  }
  return keys.slice(0, count);
}

/** The compressed form, 33 bytes. */
export function compressed({ x, y }: Point): Buffer {
  return Buffer.from((y % 2n === 0n ? '02' : '03') + hex(x), 'hex');
}

/** The two coordinates, 64 bytes: what an Ethereum address is the hash of. */
export function coordinates({ x, y }: Point): Buffer {
  return Buffer.from(hex(x) + hex(y), 'hex');
}

function publicKey(secret: string): Point {
  const pair = createECDH('secp256k1');
  pair.setPrivateKey(secret, 'hex');
  const text = pair.getPublicKey('hex');
  return { x: BigInt(`0x${text.slice(2, 66)}`), y: BigInt(`0x${text.slice(66)}`) };
}

function addToAll(points: Point[], step: Point): Point[] {
  const inverses = invertAll(points.map((q) => mod(q.x - step.x)));
  return points.map((q, i) => {
    const slope = mod((q.y - step.y) * inverses[i]!);
    const x = mod(slope * slope - q.x - step.x);
    return { x, y: mod(slope * (step.x - x) - step.y) };
  });
}

function twice(q: Point): Point {
  const slope = mod(3n * q.x * q.x * invert(2n * q.y));
  const x = mod(slope * slope - 2n * q.x);
  return { x, y: mod(slope * (q.x - x) - q.y) };
}

/** Inverses of many numbers for the price of one: by the products of all before each. */
function invertAll(numbers: bigint[]): bigint[] {
  const before: bigint[] = [];
  let product = 1n;
  for (const n of numbers) {
    before.push(product);
    product = mod(product * n);
  }
  let rest = invert(product);
  const out = new Array<bigint>(numbers.length);
  for (let i = numbers.length - 1; i >= 0; i--) {
    out[i] = mod(rest * before[i]!);
    rest = mod(rest * numbers[i]!);
  }
  return out;
}

/** By Fermat's little theorem. */
function invert(n: bigint): bigint {
  let result = 1n;
  let base = mod(n);
  for (let e = p - 2n; e > 0n; e >>= 1n) {
    if (e & 1n) result = mod(result * base);
    base = mod(base * base);
  }
  return result;
}

function mod(n: bigint): bigint {
  const r = n % p;
  return r < 0n ? r + p : r;
}

function hex(n: bigint): string {
  return n.toString(16).padStart(64, '0');
}
