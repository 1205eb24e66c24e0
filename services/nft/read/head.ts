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
  /** Changes with every rollback, and when rows go and are back: what was read meanwhile is void. */
  readonly rollbacks: number;
  /** How many cuts of the tables have begun and ended (`cuts.ts`): odd while rows are missing. */
  readonly cuts: number;
  /** Rings at every change. */
  readonly bell: Bell;
  /** More blocks are whole. */
  advance(cursor: Cursor): void;
  /** More is known of collections or tokens. */
  learn(): void;
  /** The chain was rolled back, to a block. */
  cutTo(cursor: Cursor): void;
  /** Tables are being cut, or are whole again. A lower number is old news. */
  takeCuts(cuts: number): void;
  /** Moves the revision above that of another head, in whose place this one is shown from now on. */
  reviseAbove(other: number): void;
}

/** Makes a head of empty tables. */
export function createHead(): Head {
  const bell = createBell();
  let cursor = nothing;
  // Another one than before a restart: a rollback may have happened while nobody looked.
  let revision = Date.now();
  let rollbacks = 0;
  let cuts = 0;
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
    get cuts() {
      return cuts;
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
    takeCuts(next) {
      if (next <= cuts) return;
      cuts = next;
      revision += 1;
      rollbacks += 1;
      bell.ring();
    },
    reviseAbove(other) {
      revision = Math.max(revision, other) + 1;
      bell.ring();
    },
  };
}
