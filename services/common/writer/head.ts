import { type Bell, createBell } from '../util/signal.js';

/** How far calls may read a service's tables, in memory. */
export interface Head<Position> {
  readonly position: Position;
  /**
   * Changes whenever answers about the past may have changed: a rollback, what was learnt late, a
   * start.
   */
  readonly revision: number;
  /** Changes with every rollback, and when a repair begins and ends: what was read meanwhile is void. */
  readonly rollbacks: number;
  /** How many repairs of the tables have begun and ended (`writer/repair.ts`): odd while views may be wrong. */
  readonly repairs: number;
  /** Rings at every change. */
  readonly bell: Bell;
  /** More is whole. */
  advance(position: Position): void;
  /** More is known of what is shown already. */
  learn(): void;
  /** The chain was rolled back, to a position: what was read above it is void. */
  cutTo(position: Position): void;
  /**
   * The tables were found at a position, after a start or a failure. A write can have succeeded although it seemed to fail,
   * and the other way round: then nothing that was remembered holds.
   */
  takeFound(position: Position): void;
  /** A repair has begun, or ended: both void what is read meanwhile. A lower number is old news. */
  takeRepairs(repairs: number): void;
  /** Moves the revision above that of another head, in whose place this one is shown from now on. */
  reviseAbove(other: number): void;
}

/**
 * Makes a head.
 *
 * @param nothing the position of empty tables.
 * @param parts what positions differ by when there is more to see.
 */
export function createHead<Position>(nothing: Position, parts: readonly (keyof Position)[]): Head<Position> {
  const bell = createBell();
  let position = nothing;
  // Another one than before a restart: a rollback may have happened while nobody looked.
  let revision = Date.now();
  let rollbacks = 0;
  let repairs = 0;
  const revise = (): void => {
    revision += 1;
    bell.ring();
  };
  const isShown = (next: Position): boolean => parts.every((part) => next[part] === position[part]);
  const cutTo = (next: Position): void => {
    position = next;
    rollbacks += 1;
    revise();
  };
  return {
    bell,
    get position() {
      return position;
    },
    get revision() {
      return revision;
    },
    get rollbacks() {
      return rollbacks;
    },
    get repairs() {
      return repairs;
    },
    advance(next) {
      // The same position stays the same object: what was remembered of it still holds.
      if (isShown(next)) return;
      position = next;
      bell.ring();
    },
    learn: revise,
    cutTo,
    takeFound(next) {
      if (!isShown(next)) cutTo(next);
    },
    takeRepairs(next) {
      if (next <= repairs) return;
      repairs = next;
      rollbacks += 1;
      revise();
    },
    reviseAbove(other) {
      revision = Math.max(revision, other) + 1;
      bell.ring();
    },
  };
}
