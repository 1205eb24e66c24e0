import { type StageWorld, startStageWorld } from './stage-world.js';

/**
 * Gives a suite a world: it lasts from before the first test until after the last one, and is asked what was said
 * where one has failed. What a test creates goes after it: being looked at every second takes time from the
 * tests that follow.
 *
 * @param begin is given the world, before the tests.
 * @returns creates a program for one test, as the world does.
 */
export function suiteInStageWorld(begin: (world: StageWorld) => unknown): StageWorld['create'] {
  let world: StageWorld | undefined;
  const created: string[] = [];

  before(async () => {
    world = await startStageWorld();
    await begin(world);
  });
  after(async function () {
    const failed = this.test?.parent?.tests.some(({ state }) => state === 'failed');
    if (failed) process.stdout.write(`${world?.said()}\n`);
    await world?.stop();
  });
  afterEach(async () => {
    await world?.mineSlowly(false);
    await world?.remove(created.splice(0));
  });

  return async (name, more) => {
    if (world === undefined) throw new Error('there is no world before the tests');
    created.push(name);
    return world.create(name, more);
  };
}
