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
