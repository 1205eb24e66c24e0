import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import type { Database } from '../../../services/common/clickhouse/database.js';
import { RpcError } from '../../../services/common/errors.js';

/** What callers ask of tables, each answered whole: by name. */
export type Questions = Readonly<Record<string, () => Promise<unknown>>>;

/** All items of a stream. */
export async function collect<T, U>(stream: AsyncIterable<T>, items: (message: T) => readonly U[]) {
  const all: U[] = [];
  for await (const message of stream) all.push(...items(message));
  return all;
}

/** Tells what came of questions that were asked while tables were being cut. */
export function createWitness(states: readonly Readonly<Record<string, unknown>>[]) {
  // A stream that had begun is aborted when rows go; whoever asks later is refused, or waits.
  const seen = { refused: 0, aborted: 0, answered: 0 };
  return {
    seen,
    /** Every answer is refused, or that of one of the states. */
    async ask(about: string, readers: readonly Questions[]): Promise<void> {
      const asked = readers.flatMap((questions, reader) =>
        Object.entries(questions).map(async ([name, question]) => {
          const answer = await question().catch((error: unknown) => {
            const code = error instanceof RpcError ? error.code : undefined;
            if (code !== status.UNAVAILABLE && code !== status.ABORTED) throw error;
            seen[code === status.ABORTED ? 'aborted' : 'refused'] += 1;
            return undefined;
          });
          if (answer === undefined) return;
          seen.answered += 1;
          const known = states.map((state) => JSON.stringify(state[name]));
          assert.ok(
            known.includes(JSON.stringify(answer)),
            `${about}, reader ${reader}, ${name}: ${JSON.stringify(answer).slice(0, 500)}`,
          );
        }),
      );
      await Promise.all(asked);
    },
  };
}

export type Witness = ReturnType<typeof createWitness>;

/** The answers to questions; none may be refused. */
export async function answersTo(questions: Questions): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const [name, question] of Object.entries(questions)) answers[name] = await question();
  return answers;
}

/** Merges tables, so that of every key only the newest row is left. */
export async function mergeAll(database: Database, tables: readonly string[]): Promise<void> {
  for (const table of tables) await database.command(`OPTIMIZE TABLE ${table} FINAL`, {}, { name: 'merge' });
}

/** A database whose statements wait, while they are held, until the next step. */
export function holdable(database: Database) {
  let isHeld = false;
  let waiting: (() => void)[] = [];
  const turn = (): Promise<void> =>
    isHeld ? new Promise((resolve) => void waiting.push(resolve)) : Promise.resolve();
  const step = (): void => {
    const some = waiting;
    waiting = [];
    for (const go of some) go();
  };
  const held: Database = {
    ...database,
    rows: async (...args) => turn().then(() => database.rows(...args)) as never,
    bytes: async (...args) => turn().then(() => database.bytes(...args)),
  };
  return {
    database: held,
    step,
    hold(isOn: boolean): void {
      isHeld = isOn;
      if (!isOn) step();
    },
  };
}
