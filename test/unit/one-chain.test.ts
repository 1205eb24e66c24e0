import assert from 'node:assert/strict';
import { ofOneChain } from '../../services/common/consumer/look.js';
import { invalidArgument } from '../../services/common/runtime/errors.js';

describe('an answer that takes several statements', () => {
  /** Tables that another process rolls back after each of these many readings; it shows by a look alone. */
  function tables(times: number) {
    const state = { rollbacks: 0, shown: 0, readings: 0, looks: 0 };
    const begin = () => ({
      head: {
        repairs: 0,
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
    await assert.rejects(tables(9).answer(), { name: 'RpcError', code: 14 });
  });

  it('an error counts only if it is of one chain', async () => {
    const some = tables(1);
    const missing = async () => {
      if ((await some.read()) === 1) throw new Error('the rows are gone');
      return 7;
    };
    assert.equal(await some.answer(missing), 7);
    const failing = () => Promise.reject(new Error('for good'));
    await assert.rejects(tables(0).answer(failing), /for good/);
  });

  it('a mistake of the caller needs no look', async () => {
    const { state, answer } = tables(0);
    const refuse = async () => {
      throw invalidArgument('no');
    };
    await assert.rejects(answer(refuse), /no/);
    assert.equal(state.looks, 0);
  });

  describe('of tables that are being repaired', () => {
    /** Tables in one process, whose repair ends some milliseconds after it was looked at. */
    const head = { repairs: 0, rollbacks: 0 };
    const move = (repairs: number): void => {
      head.repairs = repairs;
      head.rollbacks += 1;
    };
    const answer = <T>(read: () => Promise<T>) => ofOneChain(() => ({ head }), read);

    it('waits until they are whole', async () => {
      move(1);
      setTimeout(() => move(2), 120);
      assert.equal(await answer(async () => head.repairs), 2);
    });

    it('is read again when a repair began, or began and ended, meanwhile', async () => {
      for (const moves of [[3], [5, 6]]) {
        head.repairs = (moves[0] as number) - 1;
        let readings = 0;
        const read = async (): Promise<number> => {
          readings += 1;
          if (readings > 1) return readings;
          for (const repairs of moves) move(repairs);
          if (moves.length === 1) setTimeout(() => move(4), 60);
          return readings;
        };
        assert.equal(await answer(read), 2);
      }
    });

    it('is refused, and not read, while that lasts', async () => {
      move(7);
      const began = Date.now();
      const read = async () => assert.fail('it was read');
      await assert.rejects(answer(read), { name: 'RpcError', code: 14 });
      assert.ok(Date.now() - began < 3_000);
    });
  });
});
