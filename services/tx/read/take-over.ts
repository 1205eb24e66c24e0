import type { Written } from '../store/store.js';
import type { Reader } from './reader.js';

/** Remembers what this process has just written: it is what is asked for first. */
export function takeOver({ bodies, hashes, accounts }: Reader, written: Written): void {
  for (const { kind, sequence, hash, body } of written.bodies) {
    bodies.put(kind, sequence, body);
    if (kind !== 'internal_tx') hashes.put(kind, hash, { sequence, body_count: 1 });
  }
  for (const [key, end] of written.ends) accounts.put(key, end);
}
