import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import { common, type Fault, type Process, top } from '../support/cuts/kind.js';
import { nft } from '../support/cuts/nft.js';
import { answersTo, createWitness, holdable, type Questions, type Witness } from '../support/cuts/readers.js';
import { richlist } from '../support/cuts/richlist.js';
import { tx } from '../support/cuts/tx.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { isThorough, thoroughIt } from '../support/sample.js';

const kinds = isThorough ? { richlist, nft, tx } : { tx };
/** Which points between two writes are looked at. */
const isAsked = (points: number): boolean => isThorough || points % 3 === 0;
/** How many lie between two kills. */
const stride = 4;

for (const [name, kind] of Object.entries(kinds)) {
  describe(`answers while the tables of ${name} are being cut`, function () {
    this.timeout(400_000);
    let database: Database;
    let prefix: string;
    let fault: Fault = () => {};
    /** The answers at the common block, then as more is written, at last with all blocks. */
    const states: Record<string, unknown>[] = [];
    let process: Process;
    let replica: Questions;
    let forgetful: Questions | undefined;

    const open = () => kind.open(database, prefix, (point) => fault(point));
    const merge = () => kind.merge(database, prefix);
    /** Writes every block, and leaves nothing of what the last ones have replaced. */
    const fill = async (): Promise<void> => {
      await process.write(top);
      await merge();
    };
    const answers = () => [process.questions, replica, ...(forgetful === undefined ? [] : [forgetful])];
    /** The answers of one who has looked since the last write. */
    const current = async (questions: Questions) => {
      await answersTo(questions);
      return answersTo(questions);
    };
    /** What was answered while the tables were cut. */
    const checkSeen = ({ refused, aborted, answered }: Witness['seen']): void => {
      if (kind.refuses) assert.ok(refused + aborted > 20, `${refused} refused`);
      else assert.deepEqual([refused, answered > 0], [0, true]);
    };
    /** Stops what is written from a point on; merges before it does. */
    const killAt = (kill: number): void => {
      let point = 0;
      fault = async () => {
        point += 1;
        if (point <= kill) return;
        fault = () => {
          throw new Error('killed');
        };
        await merge();
        throw new Error('killed');
      };
    };
    /** Whether something is stopped by a kill. */
    const isKilled = async (work: Promise<unknown>): Promise<boolean> => {
      const error = await work.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      fault = () => {};
      if (error !== undefined) assert.match(String(error), /killed/);
      return error !== undefined;
    };

    before(async () => {
      [database, prefix] = [await testDatabase(), uniquePrefix()];
      process = await open();
      await process.recover();
      await process.write(common);
      const note = async (): Promise<void> => {
        states.push(await answersTo(process.questions));
      };
      await note();
      await process.write(top, note);
      await merge();
      await note();
      assert.notDeepEqual(states[0], states.at(-1));
      replica = (await kind.replica(database, prefix)).questions;
      forgetful = await kind.forgetful?.(database, prefix, true);
    });
    beforeEach(fillAgain);
    async function fillAgain(): Promise<void> {
      fault = () => {};
      await fill();
      assert.deepEqual(await current(replica), states.at(-1));
    }

    it('are refused or whole, from every point of the cut on', async () => {
      const witness = createWitness(states, kind.moving);
      const points: string[] = [];
      fault = async (point) => {
        points.push(point);
        if (!isAsked(points.length)) return;
        await witness.ask(`at ${points.join(', ')}`, answers());
        await merge();
        await witness.ask(`merged at ${points.join(', ')}`, answers());
      };
      await process.unwind(common);
      fault = () => {};
      assert.ok(points.length > 8, points.join(', '));
      checkSeen(witness.seen);
      for (const questions of answers()) assert.deepEqual(await answersTo(questions), states[0]);
    });

    thoroughIt(
      'are refused or whole when they were begun at any point of it, also if the same blocks come again',
      async () => {
        const witness = createWitness(states, kind.moving);
        const slow = holdable(database);
        const { questions: late, look } = await kind.replica(slow.database, prefix);
        await look();
        const asked: Promise<void>[] = [];
        let points = 0;
        fault = async (point) => {
          points += 1;
          slow.hold(true);
          // Their statements run one by one, from point to point.
          if (points % 3 === 1) asked.push(witness.ask(`begun at ${point}`, [late]));
          slow.step();
        };
        await process.unwind(common);
        await process.write(top);
        fault = () => {};
        slow.hold(false);
        await Promise.all(asked);
        assert.ok(asked.length > 4, String(asked.length));
        assert.ok(witness.seen.answered > 0);
        for (const questions of [late, ...answers()])
          assert.deepEqual(await current(questions), states.at(-1));
      },
    );

    thoroughIt('are refused or whole after a kill at any point of it, until all is whole again', async () => {
      const witness = createWitness(states, kind.moving);
      for (let kill = 0; ; kill += stride) {
        await fillAgain();
        killAt(kill);
        if (!(await isKilled(process.unwind(common)))) break;
        process = await open();
        await witness.ask(`killed at ${kill}`, answers());
        let steps = 0;
        fault = async (at) => {
          steps += 1;
          if (steps !== 1 + ((kill / stride) % 3)) return;
          await merge();
          await witness.ask(`${kill}, then ${at}`, answers());
        };
        await process.recover();
        fault = () => {};
        const whole = await answersTo(process.questions);
        assert.ok(states.some((state) => JSON.stringify(state) === JSON.stringify(whole)));
        assert.deepEqual(await answersTo(replica), whole);
      }
      checkSeen(witness.seen);
    });

    thoroughIt('are refused or whole while a write that was killed is taken back', async () => {
      const witness = createWitness(states, kind.moving);
      await process.unwind(common);
      fault = async (point) => {
        if (point !== 'write blocks') return;
        await merge();
        throw new Error('killed');
      };
      await isKilled(process.write(top));
      process = await open();
      let isCutting = false;
      fault = async (point) => {
        // What a batch has written before its cursor is above the head: readers know of it.
        if (isCutting) await witness.ask(`taking back: ${point}`, answers());
        isCutting = true;
      };
      await process.recover();
      fault = () => {};
      checkSeen(witness.seen);
      for (const questions of answers()) assert.deepEqual(await answersTo(questions), states[0]);
    });

    if (kind.tear === undefined) return;

    thoroughIt('are those below a cut that was killed with half of the blocks removed', async () => {
      fault = async (point) => {
        if (point !== 'remove blocks') return;
        await kind.tear?.(database, prefix);
        fault = () => {
          throw new Error('killed');
        };
        throw new Error('killed');
      };
      assert.ok(await isKilled(process.unwind(common)));
      process = await open();
      for (const questions of answers()) assert.deepEqual(await current(questions), states[0]);
      await process.recover();
      for (const questions of answers()) assert.deepEqual(await answersTo(questions), states[0]);
    });
  });
}
