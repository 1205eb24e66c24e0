import assert from 'node:assert/strict';
import { shortfallOf } from '../../services/richlist/amount.js';
import { type LaterChange, placesBefore, stretchesBefore } from '../../services/richlist/read/later.js';
import { comparePlaces, indexOf, type Place } from '../../services/richlist/store/stretches.js';
import { randomFrom } from '../support/random.js';

const place = (account: string, amount: bigint): Place => ({ shortfall: shortfallOf(amount), account });
const listOf = (balances: ReadonlyMap<string, bigint>): Place[] =>
  [...balances]
    .filter(([, amount]) => amount > 0n)
    .map(([account, amount]) => place(account, amount))
    .sort(comparePlaces);

describe('holders put back to before later changes', () => {
  it('stand where they stood, at the edges of a part too', () => {
    const places = [place('a', 9n), place('b', 7n), place('c', 5n)];
    const changes = new Map([
      ['b', { before: 5n, after: 7n }],
      ['d', { before: 7n, after: 0n }],
      ['e', { before: 4n, after: 0n }],
      ['f', { before: 0n, after: 6n }],
    ]);
    const part = { from: undefined, to: place('c', 5n), descending: false };
    const expected = [place('a', 9n), place('d', 7n), place('b', 5n), place('c', 5n)];
    assert.deepEqual(placesBefore(places, changes, part), expected);
    const toEnd = placesBefore(places, changes, { ...part, to: undefined });
    assert.deepEqual(toEnd, [...expected, place('e', 4n)]);
    const from = { ...place('d', 7n), inclusive: false };
    assert.deepEqual(placesBefore([], changes, { ...part, from }), [place('b', 5n)]);
    assert.deepEqual(placesBefore([], changes, { ...part, from: { ...from, inclusive: true } }), [
      place('d', 7n),
      place('b', 5n),
    ]);
    const down = { from: undefined, to: place('d', 7n), descending: true };
    assert.deepEqual(placesBefore([place('c', 5n), place('b', 7n)], changes, down), [
      place('e', 4n),
      place('c', 5n),
      place('b', 5n),
      place('d', 7n),
    ]);
  });

  it('are the list of before, and counted as many, whatever has changed', () => {
    const random = randomFrom(7);
    for (let round = 0; round < 300; round++) {
      const account = (): string => random.integer(30).toString(16).padStart(40, '0');
      const before = new Map(Array.from({ length: 20 }, () => [account(), BigInt(random.integer(6))]));
      const after = new Map(before);
      for (let n = random.integer(12); n > 0; n--) after.set(account(), BigInt(random.integer(6)));
      const changes = new Map<string, LaterChange>(
        [...after].flatMap(([key, amount]) => {
          const had = before.get(key) ?? 0n;
          return had === amount ? [] : [[key, { before: had, after: amount }] as const];
        }),
      );
      const [was, is] = [listOf(before), listOf(after)];
      const [from, to] = [is[random.integer(5)], is[5 + random.integer(5)]];
      for (const descending of [false, true]) {
        const turn = <T>(list: T[]): T[] => (descending ? list.toReversed() : list);
        const part = { from: undefined, to: descending ? from : to, descending };
        const isWithin = (one: Place): boolean =>
          part.to === undefined || comparePlaces(one, part.to) * (descending ? -1 : 1) <= 0;
        assert.deepEqual(
          placesBefore(turn(is.filter(isWithin)), changes, part),
          turn(was.filter(isWithin)),
          `round ${round}`,
        );
      }
      const starts: Place[] = [{ shortfall: 0n, account: '' }, ...is.filter((_, index) => index % 4 === 3)];
      const countIn = (list: readonly Place[]) =>
        starts.map((start, index) => ({
          ...start,
          count: list.filter(
            (one) =>
              indexOf(
                starts.map((at) => ({ ...at, count: 0 })),
                one,
              ) === index,
          ).length,
        }));
      assert.deepEqual(stretchesBefore(countIn(is), changes), countIn(was), `round ${round}`);
    }
  });
});
