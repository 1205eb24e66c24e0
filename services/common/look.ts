import type { Cursor } from './consume.js';
import { createMutex } from './mutex.js';

/** What a process that only serves keeps of tables that another one writes. */
export interface Looker<Position extends Cursor> {
  /** How far it shows the tables. */
  readonly position: () => Position;
  /** How far the tables are. */
  readonly read: () => Promise<Position>;
  /** The blocks between two heights, inclusive, as the tables have them. */
  readonly hashes: (from: number, to: number) => Promise<readonly Cursor[]>;
  /** Whether the tables lost something though their last block is the same. */
  readonly hasLost?: (before: Position, now: Position) => boolean;
  /** Shows more. */
  readonly advance: (position: Position) => void;
  /** Shows them after a rollback. */
  readonly cutTo: (position: Position) => void;
}

/**
 * Makes what takes over how far the tables are. A block that is gone or another one means a
 * rollback. One look at a time: of two that cross, the one that read first would end last and
 * take the head back. Those who ask while one is under way share the next.
 */
export function createLook<Position extends Cursor>(looker: Looker<Position>): () => Promise<void> {
  const exclusive = createMutex();
  let next: Promise<void> | undefined;
  return () => {
    // A mutex never begins at once, so that `next` is set before.
    next ??= exclusive(async () => {
      next = undefined;
      const before = looker.position();
      const now = await looker.read();
      if (now.hash === before.hash) {
        if (looker.hasLost?.(before, now)) looker.cutTo(now);
        else looker.advance(now);
        return;
      }
      const [same] = before.height === 0 ? [before] : await looker.hashes(before.height, before.height);
      if (same?.hash === before.hash) looker.advance(now);
      else looker.cutTo(now);
    });
    return next;
  };
}
