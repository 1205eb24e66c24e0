import type { Context } from 'mocha';
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

/**
 * For a suite whose tests share something: it is started before the first of them, and ended after the last one.
 *
 * @param start may skip the suite by what it is given.
 * @returns what was started, which is empty before.
 */
export function startBefore<Started extends object>(
  start: (test: Context) => Promise<Started>,
  end: (started: Started) => unknown = () => {},
): Started {
  const started = {} as Started;
  let isStarted = false;
  before(async function () {
    Object.assign(started, await start(this));
    isStarted = true;
  });
  after(() => (isStarted ? end(started) : undefined));
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
