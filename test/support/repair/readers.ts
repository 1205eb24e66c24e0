import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import type { Database } from '../../../services/common/clickhouse/database.js';
import { RpcError } from '../../../services/common/runtime/errors.js';

/** What callers ask of tables, each answered whole: by name. */
export type Questions = Readonly<Record<string, () => Promise<unknown>>>;

/** Answers by question. */
export type State = Readonly<Record<string, unknown>>;

/**
 * Notes what comes of questions that are asked while tables are written or repaired.
 *
 * @param states every state that they may be in.
 * @param moving questions about views: an answer may lie between two states, see `isBetween`.
 */
export function createWitness(states: readonly State[], moving: readonly string[]) {
  // A stream that had begun is aborted when rows go; whoever asks later is refused, or waits.
  const seen = { refused: 0, aborted: 0, answered: 0 };
  return {
    seen,
    /** Every answer is refused, or that of one of the states. @param exact those that answers about facts may be of. */
    async ask(about: string, readers: readonly Questions[], exact = states): Promise<void> {
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
          const isKnown = moving.includes(name)
            ? states.some((state) => states.some((other) => isBetween(answer, state[name], other[name])))
            : exact.some((state) => JSON.stringify(state[name]) === JSON.stringify(answer));
          assert.ok(isKnown, `${about}, reader ${reader}, ${name}: ${JSON.stringify(answer).slice(0, 500)}`);
        }),
      );
      await Promise.all(asked);
    },
  };
}

/** The answers to questions; none may be refused. */
export async function answersTo(questions: Questions): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const [name, question] of Object.entries(questions)) answers[name] = await question();
  return answers;
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

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Whether an answer lies between two others: each field is of one of them. Of a list each item is of one of them, and none
 * is missing that both have.
 */
function isBetween(answer: unknown, before: unknown, after: unknown): boolean {
  const texts = (items: readonly unknown[]): string[] => items.map((item) => JSON.stringify(item));
  if (Array.isArray(answer) && Array.isArray(before) && Array.isArray(after)) {
    const [found, earlier, later] = [texts(answer), texts(before), texts(after)];
    return (
      found.every((item) => earlier.includes(item) || later.includes(item)) &&
      earlier.every((item) => !later.includes(item) || found.includes(item))
    );
  }
  if (isPlain(answer) && isPlain(before) && isPlain(after))
    return Object.entries(answer).every(([name, value]) => isBetween(value, before[name], after[name]));
  return [before, after].map((value) => JSON.stringify(value)).includes(JSON.stringify(answer));
}
