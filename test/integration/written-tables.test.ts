import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import { common, type Fault, type Process, top } from '../support/cuts/kind.js';
import { nft } from '../support/cuts/nft.js';
import { answersTo, createWitness, expectAnswers, type Questions } from '../support/cuts/readers.js';
import { richlist } from '../support/cuts/richlist.js';
import { tx } from '../support/cuts/tx.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { isThorough, thoroughIt } from '../support/sample.js';

const kinds = isThorough ? { richlist, nft, tx } : { tx };
/** Which points between two writes are looked at. */
const isAsked = (points: number): boolean => isThorough || points % 3 === 1;

for (const [name, kind] of Object.entries(kinds)) {
  describe(`answers while the tables of ${name} are being written`, function () {
    this.timeout(400_000);
    let database: Database;
    let prefix: string;
    let fault: Fault = () => {};
    /** The answers at every position that a write leaves, by what a look says of it. */
    const states = new Map<string, Record<string, unknown>>();
    let [atCommon, atTop] = ['', ''];

    const open = () => kind.open(database, prefix, (point) => fault(point));
    const merge = () => kind.merge(database, prefix);
    /** A process on tables with the common blocks, and one that only serves and has looked at them. */
    const openBoth = async () => {
      fault = () => {};
      const process = await open();
      await process.recover();
      await process.unwind(common);
      const replica = await kind.replica(database, prefix);
      assert.equal(await replica.look(), atCommon);
      return { process, replica, behind: await kind.forgetful?.(database, prefix, false) };
    };

    before(async () => {
      [database, prefix] = [await testDatabase(), uniquePrefix()];
      const process = await open();
      const { look } = await kind.replica(database, prefix);
      await process.recover();
      const note = async (): Promise<void> => {
        states.set(await look(), await answersTo(process.questions));
      };
      await process.write(common);
      atCommon = await look();
      await note();
      // In one batch, and block by block.
      await process.write(top, note);
      await note();
      await process.unwind(common);
      for (let height = common + 1; height <= top; height++) {
        await process.write(height, note);
        await note();
      }
      atTop = await look();
    });

    it('are those of the block before, at every point of a write', async () => {
      const { process, replica, behind } = await openBoth();
      const witness = createWitness([...states.values()], kind.moving);
      const points: string[] = [];
      fault = async (point) => {
        points.push(point);
        await merge();
        if (!isAsked(points.length)) return;
        if (behind !== undefined)
          assert.deepEqual(await answersTo(behind), states.get(atCommon), points.join(', '));
        const both = [process.questions, replica.questions];
        // From then on its blocks are there.
        if (points.includes('written')) return witness.ask(points.join(', '), both);
        const [before, after] = [states.get(atCommon) ?? {}, states.get(atTop) ?? {}];
        for (const questions of both)
          expectAnswers(await answersTo(questions), before, after, kind.moving, points.join(', '));
      };
      await process.write(top);
      fault = () => {};
      assert.ok(points.length > 5, points.join(', '));
      assert.equal(await replica.look(), atTop);
      if (behind !== undefined) assert.deepEqual(await answersTo(behind), states.get(atCommon));
      for (const questions of [process.questions, replica.questions])
        assert.deepEqual(await answersTo(questions), states.get(atTop));
    });

    thoroughIt(
      'are those of the block before where a write was killed, and the writer stays away',
      async () => {
        // A write of tx has many points, and each takes a second.
        const stride = name === 'tx' ? 2 : 1;
        for (let kill = 0; ; kill += stride) {
          const { process, replica } = await openBoth();
          let point = 0;
          fault = () => {
            if (point === kill) throw new Error('killed');
            point += 1;
          };
          const isKilled = await process.write(top).then(
            () => false,
            () => true,
          );
          fault = () => {};
          if (!isKilled) break;
          await merge();
          const state = states.get(await replica.look());
          assert.ok(state !== undefined);
          // Also of one that has just started, and has not recovered the tables.
          const started: Process = await open();
          const forgetful = await kind.forgetful?.(database, prefix, true);
          const next = states.get(atTop) ?? {};
          for (const questions of [replica.questions, started.questions, forgetful])
            if (questions !== undefined)
              expectAnswers(await answersTo(questions), state, next, kind.moving, `killed at ${kill}`);
          await started.recover();
          assert.deepEqual(await answersTo(started.questions), state, `killed at ${kill}`);
        }
      },
    );

    thoroughIt('are those of a block where nobody has looked since, however much was written', async () => {
      const { process } = await openBoth();
      const all = Object.keys(process.questions);
      for (const question of all.filter((_, index) => index % Math.ceil(all.length / 12) === 0)) {
        await process.unwind(common);
        const replica = await kind.replica(database, prefix);
        await replica.look();
        for (let height = common + 1; height <= top; height++) {
          await process.write(height);
          await merge();
        }
        const answer = await (replica.questions as Questions)[question]?.();
        const known = [atCommon, atTop].map((state) => JSON.stringify(states.get(state)?.[question]));
        assert.ok(known.includes(JSON.stringify(answer)), `${question}: ${JSON.stringify(answer)}`);
      }
    });
  });
}
