import assert from 'node:assert/strict';
import { UserError } from '../../services/common/runtime/errors.js';
import { runScore } from '../../tools/score/cli.js';
import { checkCombinations } from '../../tools/score/combinations.js';

const none = { once: false, 'dry-run': false };

describe('the arguments of weft score', () => {
  const forget = ['--program', '/nowhere/program.yaml', '--forget-stage', '5'];
  for (const others of [['--dry-run'], ['--once'], ['--show', 'status'], ['--service', 'h:1']])
    it(`refuse to forget a stage with ${others[0]}, before anything is opened`, async () => {
      await assert.rejects(runScore([...forget, ...others]), (error: unknown) => {
        assert.ok(error instanceof UserError);
        assert.match(error.message, new RegExp(`--forget-stage cannot be used with ${others[0]}\n`));
        assert.match(error.message, /Nothing was done/);
        return true;
      });
    });

  it('refuse all that cannot be at once', () => {
    assert.throws(
      () =>
        checkCombinations({ ...none, 'forget-stage': '5', 'forget-finalized': '5', 'forget-height': '9' }),
      /--forget-stage cannot be used with --forget-finalized\n--forget-stage cannot be used with --forget-height/,
    );
    assert.throws(
      () => checkCombinations({ ...none, once: true, 'forget-height': '9' }),
      /--forget-height cannot be used with --once/,
    );
    assert.throws(
      () => checkCombinations({ once: true, 'dry-run': true, service: 'h:1', 'forget-stage': '5' }),
      /--dry-run\n.*--once\n.*--service\n--service is only for --show/,
    );
  });

  it('are good otherwise', async () => {
    for (const good of [{}, { once: true }, { 'dry-run': true }, { 'dry-run': true, once: true }])
      checkCombinations({ ...none, ...good });
    for (const good of [{ 'forget-stage': '5' }, { show: '5' }, { show: '5', service: 'h:1' }])
      checkCombinations({ ...none, ...good });
    await assert.rejects(runScore(forget), /nowhere/, 'the program is read then');
  });
});
