import Mocha from 'mocha';

const { EVENT_RUN_END, EVENT_TEST_PENDING } = Mocha.Runner.constants;

/**
 * Mocha's spec report, closed by a line that any CI reads: `N passed, N failed, N skipped`.
 */
export default class ClosingLineReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    let skipped = 0;
    runner.on(EVENT_TEST_PENDING, () => {
      skipped += 1;
    });
    runner.once(EVENT_RUN_END, () => {
      const { passes, failures } = this.stats;
      process.stdout.write(`\n${passes} passed, ${failures} failed, ${skipped} skipped\n`);
    });
  }
}
