import assert from 'node:assert/strict';
import { type Database, namesOf } from '../../services/common/clickhouse/database.js';
import { countRows } from '../../services/common/clickhouse/remove.js';
import { soleWriter } from '../../services/common/writer/fence.js';
import type { Columns } from '../../services/common/writer/head-table.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { nft } from '../support/repair/nft.js';
import { answersTo, createWitness, holdable, type Questions, type State } from '../support/repair/readers.js';
import { richlist } from '../support/repair/richlist.js';
import { common, type Fault, type Process, top } from '../support/repair/service.js';
import { tx } from '../support/repair/tx.js';
import { isThorough, thoroughIt } from '../support/sample.js';
import { differencesOf } from '../support/views.js';

const services = isThorough ? { richlist, nft, tx } : { tx };
/** Which points between two statements are looked at. */
const isAsked = (points: number): boolean => isThorough || points % 3 === 1;
/** How many points lie between two kills after which readers are asked at once: who is refused waits a second for that. */
const stride = 3;

for (const [name, service] of Object.entries(services)) {
  describe(`readers of the tables of ${name}`, function () {
    this.timeout(600_000);
    let database: Database;
    let prefix: string;
    let process: Process;
    let fault: Fault = () => {};
    /** The answers at every position that a write leaves, by what a replica says of it. */
    const states = new Map<string, State>();
    let [atCommon, atTop] = ['', ''];

    const run = (sql: string) => database.command(sql, {}, { name: 'test.repair' });
    /** Leaves next to nothing of what newer rows of views have replaced. */
    const merge = async (): Promise<void> => {
      for (const { table } of service.views) await run(`OPTIMIZE TABLE ${prefix}_${name}.${table} FINAL`);
    };
    const open = () => service.open(database, prefix, (point) => fault(point));
    const stateAt = (position: string): State => states.get(position) as State;
    const witnessOf = (some: Iterable<State> = states.values()) => createWitness([...some], service.moving);
    /** Opens a process that only serves, and has looked at the tables. */
    const openReplica = async (): Promise<Questions> => {
      const replica = await service.replica(database, prefix);
      await replica.look();
      return replica.questions;
    };
    const openForgetful = async (looks: boolean): Promise<Questions[]> => {
      const questions = await service.forgetful?.(database, prefix, looks);
      return questions === undefined ? [] : [questions];
    };
    /** Readers of every sort beside a writer: one that was there before, one that starts now. */
    const openReaders = async () => [await openReplica(), ...(await openForgetful(true))];
    /** How many facts there are above the head. */
    const countAbove = async (): Promise<number> => {
      const tables = namesOf<string>({ database: `${prefix}_${name}`, cluster: '' });
      const newest = `SELECT * FROM ${tables.of('head')} ORDER BY version DESC LIMIT 1`;
      const [head = {}] = await database.rows<Columns>(newest, {}, { name: 'test.head' });
      const counts = await countRows(
        { database: soleWriter(database), tables, name: 'test.above' },
        service.above,
        head,
      );
      return [...counts.values()].reduce((sum, count) => sum + count, 0);
    };
    /** Everybody gets the answers of a state, each view is what its definition gives, and no fact is above the head. */
    const expectState = async (state: State, readers: readonly Questions[], about: string): Promise<void> => {
      for (const questions of readers) {
        // A replica may be as far as it was when it looked last.
        await answersTo(questions);
        assert.deepEqual(await answersTo(questions), state, about);
      }
      assert.deepEqual(await differencesOf(process.compareViews()), [], about);
      assert.equal(await countAbove(), 0, about);
    };
    /** During a repair calls about views are refused; the others are not. */
    const checkRefusals = ({ refused, aborted, answered }: ReturnType<typeof witnessOf>['seen']): void => {
      if (service.refuses) assert.ok(refused + aborted > 10, `${refused} refused`);
      else assert.deepEqual([refused, answered > 0], [0, true]);
    };
    /** Stops everything that is written from a point on; merges before. */
    const killAt = (kill: number): void => {
      let points = 0;
      fault = async (point) => {
        points += 1;
        if (points <= kill) return;
        fault = () => {
          throw new Error('killed');
        };
        await merge();
        // A delete can be cut short as well.
        if (point === 'remove blocks')
          await run(`DELETE FROM ${prefix}_${name}.blocks WHERE height = ${common + 1}`);
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
      const { look } = await service.replica(database, prefix);
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
      assert.notDeepEqual(stateAt(atCommon), stateAt(atTop));
    });
    beforeEach(() => {
      fault = () => {};
    });

    it('get the answer of the block before at every point of a write, and of the block after it', async () => {
      await process.unwind(common);
      const readers = [process.questions, ...(await openReaders())];
      const behind = await openForgetful(false);
      /** Replicas of which each has looked before the write, and is asked one question after it. */
      const waiting = isThorough
        ? await Promise.all(
            Object.keys(process.questions).map(async (each) => [each, await openReplica()] as const),
          )
        : [];
      const witness = witnessOf();
      const [before, after] = [[stateAt(atCommon)], [stateAt(atTop)]];
      const between = createWitness([...before, ...after], service.moving);
      const points: string[] = [];
      fault = async (point) => {
        points.push(point);
        await merge();
        if (!isAsked(points.length)) return;
        const about = points.join(', ');
        await witness.ask(about, behind, before);
        // From `written` on its blocks are there.
        if (points.includes('written')) await witness.ask(about, readers);
        else await between.ask(about, readers, before);
      };
      await process.write(top);
      fault = () => {};
      assert.ok(points.length > 5, points.join(', '));
      for (const { refused, aborted } of [witness.seen, between.seen])
        assert.deepEqual([refused, aborted], [0, 0]);
      await between.ask('behind', behind, before);
      for (const [question, replica] of waiting)
        await between.ask('waiting', [{ [question]: replica[question] as Questions[string] }]);
      await expectState(stateAt(atTop), readers, 'after the write');
    });

    it('get an answer of some block or are refused, at every point of a rollback', async () => {
      await process.write(top);
      await merge();
      const readers = [process.questions, ...(await openReaders())];
      const witness = witnessOf();
      const points: string[] = [];
      fault = async (point) => {
        points.push(point);
        if (!isAsked(points.length)) return;
        await witness.ask(`at ${points.join(', ')}`, readers);
        await merge();
        await witness.ask(`merged at ${points.join(', ')}`, readers);
      };
      await process.unwind(common);
      fault = () => {};
      assert.ok(points.length > 8, points.join(', '));
      checkRefusals(witness.seen);
      await expectState(stateAt(atCommon), readers, 'after the rollback');
    });

    thoroughIt(
      'do so if they began at any point of a rollback, also if the same blocks come again',
      async () => {
        await process.write(top);
        const witness = witnessOf();
        const slow = holdable(database);
        const { questions: late, look } = await service.replica(slow.database, prefix);
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
        await expectState(stateAt(atTop), [late, process.questions], 'at last');
      },
    );

    for (const [what, from, work] of [
      ['write', common, () => process.write(top)],
      ['rollback', top, () => process.unwind(common)],
    ] as const)
      thoroughIt(`do so after a kill at any point of a ${what}, and another kill of the repair`, async () => {
        const witness = witnessOf();
        for (let kill = 0; ; kill++) {
          const isAsked = kill % stride === 0;
          await process.unwind(common);
          await process.write(from);
          const readers = await openReaders();
          const dead = process.questions;
          killAt(kill);
          if (!(await isKilled(work()))) break;
          process = await open();
          if (isAsked) await witness.ask(`killed at ${kill}`, [dead, process.questions, ...readers]);
          let points = 0;
          fault = async (point) => {
            points += 1;
            if (points !== 1 + (kill % 11)) return;
            await merge();
            if (isAsked)
              await witness.ask(`killed at ${kill}, then at ${point}`, [process.questions, ...readers]);
            killAt(0);
            await fault(point);
          };
          if (await isKilled(process.recover())) process = await open();
          await process.recover();
          const position = await (await service.replica(database, prefix)).look();
          assert.ok(states.has(position), position);
          const all = [process.questions, ...readers, ...(await openReaders())];
          await expectState(stateAt(position), all, `killed at ${kill}`);
        }
        if (what === 'rollback') checkRefusals(witness.seen);
      });

    // Tables of NFTs of an earlier version have other facts too: thorough/nft-upgrade.
    if (name !== 'nft')
      thoroughIt(
        'do so while the views of an earlier version are made from facts, after any kill',
        async () => {
          await process.unwind(common);
          await process.write(top);
          const witness = witnessOf();
          for (let kill = 0; ; kill++) {
            for (const { table } of [{ table: 'head' }, ...service.views])
              await run(`TRUNCATE TABLE ${prefix}_${name}.${table}`);
            process = await open();
            const readers = await openReaders();
            if (kill === 0) await witness.ask('no head', readers);
            killAt(kill);
            const isOver = !(await isKilled(process.recover()));
            if (!isOver) {
              if (kill % stride === 0) await witness.ask(`killed at ${kill}`, readers);
              process = await open();
              await process.recover();
            }
            await expectState(stateAt(atTop), [process.questions, ...readers], `killed at ${kill}`);
            if (isOver) break;
          }
          checkRefusals(witness.seen);
        },
      );

    // The last: what it writes is newer than what the writer does next.
    it('can be told of every row of a view that is not what the facts say', async () => {
      await process.write(top);
      const differences = async () =>
        (await differencesOf(process.compareViews())).map(({ table, kind }) => `${table} ${kind}`);
      for (const { table, key, values } of service.views) {
        const view = `${prefix}_${name}.${table}`;
        const [found] = await database.rows<Record<string, unknown> & { newest: string }>(
          `SELECT ${[...key, ...values].join(', ')}, toString(v.version) AS newest
           FROM ${view} AS v FINAL
           ORDER BY ${key.join(', ')}
           LIMIT 1
           SETTINGS output_format_json_quote_64bit_integers = 1`,
          {},
          { name: 'test.row' },
        );
        const { newest = '0', ...row } = found ?? {};
        let version = BigInt(newest);
        const write = (some: object, is_deleted: 0 | 1): Promise<void> => {
          version += 1n;
          const line = JSON.stringify({ ...some, is_deleted, version: String(version) });
          return database.insert(view, line, { name: 'test.alter' });
        };
        await write(row, 1);
        // Collections follow from two tables of facts.
        assert.deepEqual([...new Set(await differences())], [`${table} missing`]);
        await write(row, 0);
        assert.deepEqual(await differences(), []);
        // Another value, or where there is none one row too many.
        const last = values.at(-1) ?? (key.at(-1) as string);
        const value = (row as Record<string, unknown>)[last];
        const isNumber = /^\d+$/.test(String(value));
        const other = isNumber ? String(BigInt(String(value)) + 1n) : `${value}x`;
        const altered = { ...row, [last]: Array.isArray(value) ? [...value, 99] : other };
        await write(altered, 0);
        assert.ok((await differences()).includes(`${table} foreign`), table);
        if (values.length > 0) await write(row, 0);
        else await write(altered, 1);
        assert.deepEqual(await differences(), []);
      }
    });
  });
}
