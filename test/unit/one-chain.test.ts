import assert from 'node:assert/strict';
import { Overtaken } from '../../services/common/clickhouse/database.js';
import { invalidArgument, RpcError } from '../../services/common/errors.js';
import { ofOneChain } from '../../services/common/one-chain.js';

describe('an answer that takes several statements', () => {
  /** Tables that another process rolls back after each of these many readings; it shows by a look alone. */
  function tables(times: number) {
    const state = { rollbacks: 0, shown: 0, readings: 0, looks: 0 };
    const begin = () => ({
      head: {
        cuts: 0,
        get rollbacks() {
          return state.shown;
        },
      },
      look: async () => {
        state.looks += 1;
        state.shown = state.rollbacks;
      },
    });
    const read = async (): Promise<number> => {
      state.readings += 1;
      if (state.readings <= times) state.rollbacks += 1;
      return state.readings;
    };
    return { state, answer: (of = read) => ofOneChain(begin, of), read };
  }

  it('is read once, and again after a rollback', async () => {
    assert.equal(await tables(0).answer(), 1);
    assert.equal(await tables(1).answer(), 2);
    assert.equal(await tables(2).answer(), 3);
  });

  it('is none while one rollback follows another', async () => {
    await assert.rejects(tables(9).answer(), (error) => error instanceof RpcError && error.code === 14);
  });

  it('an error counts only if it is of one chain', async () => {
    const some = tables(1);
    const missing = async () => {
      if ((await some.read()) === 1) throw new Error('the rows are gone');
      return 7;
    };
    assert.equal(await some.answer(missing), 7);
    await assert.rejects(
      tables(0).answer(async () => {
        throw new Error('for good');
      }),
      /for good/,
    );
  });

  it('is read again where newer rows have overtaken it', async () => {
    const { state, answer } = tables(0);
    const overtaken = (times: number) => async () => {
      state.readings += 1;
      if (state.readings <= times) throw new Overtaken('newer rows');
      return state.readings;
    };
    assert.equal(await answer(overtaken(2)), 3);
    assert.equal(state.looks, 3);
    state.readings = 0;
    await assert.rejects(answer(overtaken(9)), (error) => error instanceof RpcError && error.code === 14);
  });

  it('a mistake of the caller needs no look', async () => {
    const { state, answer } = tables(0);
    const refuse = async () => {
      throw invalidArgument('no');
    };
    await assert.rejects(answer(refuse), /no/);
    assert.equal(state.looks, 0);
  });

  describe('of tables that are being cut', () => {
    /** Tables in one process, whose cut ends some milliseconds after it was looked at. */
    const head = { cuts: 0, rollbacks: 0 };
    const move = (cuts: number): void => {
      head.cuts = cuts;
      head.rollbacks += 1;
    };
    const answer = <T>(read: () => Promise<T>) => ofOneChain(() => ({ head }), read);
    const isUnavailable = (error: unknown) => error instanceof RpcError && error.code === 14;

    it('waits until they are whole', async () => {
      move(1);
      setTimeout(() => move(2), 120);
      assert.equal(await answer(async () => head.cuts), 2);
    });

    it('is read again when a cut began, or began and ended, meanwhile', async () => {
      for (const moves of [[3], [5, 6]]) {
        head.cuts = (moves[0] as number) - 1;
        let readings = 0;
        const read = async (): Promise<number> => {
          readings += 1;
          if (readings > 1) return readings;
          for (const cuts of moves) move(cuts);
          if (moves.length === 1) setTimeout(() => move(4), 60);
          return readings;
        };
        assert.equal(await answer(read), 2);
      }
    });

    it('is refused, and not read, while that lasts', async () => {
      move(7);
      const began = Date.now();
      await assert.rejects(
        answer(async () => assert.fail('it was read')),
        isUnavailable,
      );
      assert.ok(Date.now() - began < 3_000);
    });
  });
});
