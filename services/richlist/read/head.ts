import { type Bell, createBell } from '../../common/signal.js';
import { nothing, type Position } from '../store/cursor.js';

/** How far calls may read, in memory. */
export interface Head {
  readonly position: Position;
  /** Changes whenever answers about the past may have changed (a rollback), and with every start. */
  readonly revision: number;
  /** Rings at every change. */
  readonly bell: Bell;
  /** More is whole. */
  advance(position: Position): void;
  /** The chain was rolled back, to a position: what was read above it is void. */
  cutTo(position: Position): void;
}

/** Makes a head of empty tables. */
export function createHead(): Head {
  const bell = createBell();
  let position = nothing;
  // Another one than before a restart: a rollback may have happened while nobody looked.
  let revision = Date.now();
  return {
    bell,
    get position() {
      return position;
    },
    get revision() {
      return revision;
    },
    advance(next) {
      const moved =
        next.height !== position.height || next.hash !== position.hash || next.last_ord !== position.last_ord;
      position = next;
      if (moved) bell.ring();
    },
    cutTo(next) {
      position = next;
      revision += 1;
      bell.ring();
    },
  };
}
