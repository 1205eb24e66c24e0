import type { Cursor } from '../../common/consume.js';
import { type Bell, createBell } from '../../common/signal.js';
import { nothing } from '../store/cursor.js';
import { endOf } from '../store/place.js';

/** How far calls may read, in memory. */
export interface Head {
  readonly cursor: Cursor;
  /** Place up to which rows count. */
  readonly end: number;
  /**
   * Changes whenever answers about the past may have changed: a rollback, a name or uri that
   * was learnt late, a start.
   */
  readonly revision: number;
  /** Changes with every rollback: what was read above the common block is void. */
  readonly rollbacks: number;
  /** Rings at every change. */
  readonly bell: Bell;
  /** More blocks are whole. */
  advance(cursor: Cursor): void;
  /** More is known of collections or tokens. */
  learn(): void;
  /** The chain was rolled back, to a block. */
  cutTo(cursor: Cursor): void;
}

/** Makes a head of empty tables. */
export function createHead(): Head {
  const bell = createBell();
  let cursor = nothing;
  // Another one than before a restart: a rollback may have happened while nobody looked.
  let revision = Date.now();
  let rollbacks = 0;
  return {
    bell,
    get cursor() {
      return cursor;
    },
    get end() {
      return endOf(cursor.height);
    },
    get revision() {
      return revision;
    },
    get rollbacks() {
      return rollbacks;
    },
    advance(next) {
      const moved = next.height !== cursor.height || next.hash !== cursor.hash;
      cursor = next;
      if (moved) bell.ring();
    },
    learn() {
      revision += 1;
      bell.ring();
    },
    cutTo(next) {
      cursor = next;
      revision += 1;
      rollbacks += 1;
      bell.ring();
    },
  };
}
