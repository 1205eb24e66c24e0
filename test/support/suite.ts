import type { Context, HookFunction } from 'mocha';
import { type ReplayNode, type ReplayOptions, startReplayNode } from '../../tools/replay/node.js';

/**
 * For a suite whose tests start things of their own: what is still running after a test is ended, the last first.
 *
 * @returns keeps how a thing ends. What that returns ends it before: both do it once.
 */
export function endsAfterEach(): (end: () => unknown) => () => Promise<void> {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  return (end) => {
    let ended: Promise<void> | undefined;
    const once = (): Promise<void> => {
      ended ??= (async () => void (await end()))();
      return ended;
    };
    ends.push(once);
    return once;
  };
}

type Start<Started> = (test: Context) => Started | Promise<Started>;
type End<Started> = (started: Started) => unknown;

/**
 * For a suite whose tests share something: it is started before the first of them, and ended after the last one.
 *
 * @param start may skip the suite by what it is given.
 * @returns what was started, which is empty before.
 */
export const startBefore = <Started extends object>(
  start: Start<Started>,
  end: End<Started> = () => {},
): Started => between(before, after, start, end);

/** The same for what each test has to itself. */
export const startBeforeEach = <Started extends object>(
  start: Start<Started>,
  end: End<Started> = () => {},
): Started => between(beforeEach, afterEach, start, end);

function between<Started extends object>(
  first: HookFunction,
  last: HookFunction,
  start: Start<Started>,
  end: End<Started>,
): Started {
  const started = {} as Started;
  let isStarted = false;
  first(async function () {
    isStarted = false;
    const present = await start(this);
    // Each is read and set where it is, since some of them change.
    for (const name of Object.keys(present) as (keyof Started)[])
      Object.defineProperty(started, name, {
        get: () => present[name],
        set: (value) => {
          present[name] = value;
        },
        ...{ configurable: true, enumerable: true },
      });
    isStarted = true;
  });
  last(() => (isStarted ? end(started) : undefined));
  return started;
}

/** The same of what follows a replayed chain, with the node that plays it. */
export function followBefore<Follower extends { stop(): Promise<unknown> }>(
  recording: ReplayOptions,
  start: (node: ReplayNode) => Promise<Follower>,
): Follower & { readonly node: ReplayNode } {
  return startBefore(
    async (test) => {
      // What it waits for has limits of its own.
      test.timeout(240_000);
      const node = await startReplayNode(recording);
      return { ...(await start(node)), node };
    },
    async ({ node, stop }) => {
      await stop();
      await node.close();
    },
  );
}
