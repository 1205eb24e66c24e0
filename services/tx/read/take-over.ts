import type { Position } from '../store/cursor.js';
import type { Written } from '../store/store.js';
import type { Head } from './head.js';
import type { Reader } from './reader.js';

/** Shows what this process has just written, and remembers it: it is what is asked for first. */
export function takeOver({ bodies, hashes, accounts }: Reader, head: Head, written: Written): void {
  head.advance(written.position);
  for (const { kind, sequence, hash, body } of written.bodies) {
    bodies.put(kind, sequence, body);
    if (kind !== 'internal_tx') hashes.put(kind, hash, { sequence, body_count: 1 });
  }
  for (const [key, end] of written.ends) accounts.put(key, end);
}

/**
 * Shows where the tables were found after a failure. A write can have succeeded although it
 * seemed to fail: what is remembered knows nothing of it then.
 */
export function takeOverRecovered(head: Head, found: Position): void {
  const { height, hash, internal_height } = head.position;
  const isSame = found.height === height && found.hash === hash && found.internal_height === internal_height;
  if (!isSame) head.cutTo(found);
}
