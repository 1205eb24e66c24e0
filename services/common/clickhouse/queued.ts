import { aroundStatements, type Database } from './database.js';
import { createTurns } from './turns.js';

/**
 * A database whose statements take turns, a few at a time: clients by turns, and without those whose callers have left.
 *
 * @param atOnce how many statements it takes at the same time.
 */
export function queued(database: Database, atOnce: number): Database {
  const turns = createTurns(undefined, atOnce);
  return aroundStatements(database, (options, run, priority) =>
    turns.take({ priority, ...options }, () => {
      options.onTurn?.();
      return run(options);
    }),
  );
}
