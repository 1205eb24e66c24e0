import { messageOf } from '../../common/runtime/errors.js';
import { sleep } from '../../common/runtime/lifecycle.js';
import { within } from '../../common/util/signal.js';
import {
  checkedProgram,
  checkTables,
  hashOfFile,
  type OpenEyes,
  openEyes,
  ProblemError,
  type Resolved,
  resolveProgram,
  type Sight,
} from './eyes.js';
import { type Problem, type Seen, unseen } from './look.js';
import { keyOf, type ScoringProgram } from './resource.js';

/** Looks at programs, each in its own rhythm, so that one that cannot be reached does not hold up the others. */
export interface Observer {
  /** What is known; begins to look when the program is new, and looks at once when it has changed. */
  watch(program: ScoringProgram): Seen;
  /** Looks at a program again now. */
  hurry(key: string): void;
  forget(key: string): void;
  stop(): Promise<void>;
}

interface Watched {
  program: ScoringProgram;
  known: Seen;
  eyes: OpenEyes | undefined;
  wake: AbortController;
  readonly stop: AbortController;
  done: Promise<void>;
}

/** How long one look may take, in milliseconds. */
const patience_ms = 120_000;

/** @param onLook told after every look. */
export function createObserver(sight: Sight, onLook: (key: string) => void): Observer {
  const watched = new Map<string, Watched>();

  const look = async (one: Watched): Promise<Seen> => {
    const { program } = one;
    try {
      checkTables(program, sight.database_name);
      const resolved: Resolved = await resolveProgram(sight.api, program);
      const checked = checkedProgram(resolved.file);
      const { address } = program.spec.signer;
      const hash = hashOfFile(resolved.file, address);
      if (one.eyes?.hash !== hash) {
        await one.eyes?.close();
        one.eyes = undefined;
        one.eyes = await openEyes(sight, checked, address, hash);
      }
      const signal = within(patience_ms, one.stop.signal);
      return { look: await one.eyes.look(checked.rules, signal), problem: undefined };
    } catch (error) {
      const problem = asProblem(error);
      const isNews = one.known.problem?.reason !== problem.reason;
      if (!one.stop.signal.aborted)
        sight.log[isNews ? 'warn' : 'debug'](
          { program: keyOf(program.metadata), reason: problem.reason },
          problem.message,
        );
      // What was seen before goes on to count until it is too old, unless the program itself is wrong.
      return { look: problem.isLasting ? undefined : one.known.look, problem };
    }
  };
  const run = async (one: Watched, key: string): Promise<void> => {
    while (!one.stop.signal.aborted) {
      one.wake = new AbortController();
      const { program } = one;
      const known = await look(one);
      if (one.stop.signal.aborted) break;
      // A change during the look is looked at without a pause.
      const isOutdated = one.program.metadata.generation !== program.metadata.generation;
      one.known = { ...known, isOutdated };
      onLook(key);
      if (isOutdated) continue;
      const pause = program.spec.pollSeconds * 1_000 * (0.9 + Math.random() * 0.2);
      await sleep(pause, AbortSignal.any([one.wake.signal, one.stop.signal]));
    }
    await one.eyes?.close();
  };
  const end = (one: Watched): Promise<void> => {
    one.stop.abort();
    one.wake.abort();
    return one.done;
  };
  return {
    watch(program) {
      const key = keyOf(program.metadata);
      const one = watched.get(key);
      if (one !== undefined && one.program.metadata.uid === program.metadata.uid) {
        const isNew = one.program.metadata.generation !== program.metadata.generation;
        if (isNew) {
          one.program = program;
          // What was decided by the rules before opens no gate any more.
          one.known = { ...one.known, isOutdated: true };
          one.wake.abort();
        }
        return one.known;
      }
      if (one !== undefined) void end(one);
      const fresh: Watched = {
        program,
        known: unseen,
        eyes: undefined,
        wake: new AbortController(),
        stop: new AbortController(),
        done: Promise.resolve(),
      };
      watched.set(key, fresh);
      fresh.done = run(fresh, key).catch((error: unknown) => {
        sight.log.error({ err: error }, `looking at ${key} ended: ${messageOf(error)}`);
      });
      return fresh.known;
    },
    hurry: (key) => watched.get(key)?.wake.abort(),
    forget(key) {
      const one = watched.get(key);
      watched.delete(key);
      if (one !== undefined) void end(one);
    },
    async stop() {
      await Promise.all([...watched.values()].map(end));
      watched.clear();
    },
  };
}

function asProblem(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  return { reason: 'TablesUnreadable', message: messageOf(error), isLasting: false };
}
