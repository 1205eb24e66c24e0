import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import { findToken } from '../../services/richlist/read/reader.js';
import type { RichlistStore } from '../../services/richlist/store/store.js';
import { richlistViews } from '../../services/richlist/store/tables.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { randomKills } from '../support/kills.js';
import type { Random } from '../support/random.js';
import { checkList, checkPast } from '../support/richlist-checks.js';
import {
  followBlock,
  followHeal,
  followUnwind,
  holdersOf,
  ledgerKey,
  type ModelBlock,
  type ModelIndex,
  modelAccounts,
  modelChain,
  modelGenesis,
  modelTokens,
  rareTokens,
} from '../support/richlist-model.js';
import { openTestRichlist, seedOf, type TestRichlist } from '../support/richlist-tables.js';
import { histories } from '../support/sample.js';
import { checkViews } from '../support/views.js';

/** How many steps a history has. */
const steps = 32;

/** Lists that are walked after a step, and at the end. */
const [walkedNow, walkedAtLast] = [1, modelTokens.length];

/** An index under test and the model that it must equal. */
interface Subject {
  readonly random: Random;
  readonly chain: ReturnType<typeof modelChain>;
  readonly blocks: ModelBlock[];
  readonly model: ModelIndex;
  readonly list: TestRichlist;
  readonly kills: ReturnType<typeof randomKills>;
}

async function open(database: Database, seed: number): Promise<Subject> {
  const genesis = modelGenesis();
  const chain = modelChain(seed, genesis);
  const blocks: ModelBlock[] = [];
  const kills = randomKills(chain.random);
  const list = await openTestRichlist(database, uniquePrefix(), {
    openSeed: async (height) => ({ height, balances: () => seedOf(blocks[height - 1]?.truth ?? new Map()) }),
    askBalances: async (questions) =>
      questions.map(
        ({ token, account, height }) => blocks[height - 1]?.truth.get(ledgerKey(token, account)) ?? 0n,
      ),
    fault: kills.fault,
    knownCapacity: seed % 2 === 0 ? 6 : 1_000,
  });
  await list.store.recover();
  const model: ModelIndex = { at: new Map(), height: 0 };
  return {
    random: chain.random,
    chain,
    blocks,
    model,
    list,
    kills,
  };
}

/** Does a thing, killed at a random point now and then. */
const survive = ({ kills, list: { store } }: Subject, work: (store: RichlistStore) => Promise<unknown>) =>
  kills.survive(
    () => work(store),
    () => store.recover(),
    12,
  );

/** Follows what the store has come to, whether or not it was stopped on the way. */
function catchUp({ model, blocks, list }: Subject): void {
  const { height } = list.store.position;
  if (height < model.height) followUnwind(model, height);
  for (const block of blocks.slice(model.height, height)) followBlock(model, block);
}

async function write(subject: Subject): Promise<void> {
  const { blocks, chain, random, list, model } = subject;
  const from = list.store.position.height;
  for (let count = 1 + random.integer(4); count > 0; count--) blocks.push(chain.next(blocks.at(-1)));
  await survive(subject, (store) => store.writeBlocks(blocks.slice(from)));
  catchUp(subject);
  blocks.length = Math.max(model.height, 0);
}

async function unwind(subject: Subject): Promise<void> {
  const { blocks, random, model } = subject;
  // Short rollbacks are the common ones, and end within a batch.
  const below = random.oneIn(3)
    ? random.integer(model.height + 1)
    : Math.min(model.height, random.integer(4));
  const height = random.oneIn(10) ? 0 : model.height - below;
  await survive(subject, (store) => store.unwind(height));
  catchUp(subject);
  blocks.length = model.height;
}

async function heal(subject: Subject): Promise<void> {
  const { blocks, random, model, list } = subject;
  if (model.height === 0) return;
  const height = Math.max(1, model.height - random.integer(4));
  const keys = new Set(
    Array.from({ length: 1 + random.integer(6) }, () =>
      ledgerKey(random.pick(modelTokens), random.pick(modelAccounts)),
    ),
  );
  const answers = [...keys].map((key) => {
    const amount = blocks[height - 1]?.truth.get(key) ?? 0n;
    return { token: key.slice(0, 40), account: key.slice(40), height, amount };
  });
  const before = list.store.position.last_ord;
  await survive(subject, (store) => store.heal(answers, store.revision));
  // Killed after the cursor was written, it is done all the same.
  if (list.store.position.last_ord > before)
    for (const answer of answers) followHeal(model, answer, answer.amount);
}

async function check({ list, model, random, blocks }: Subject, walked: number): Promise<void> {
  const { reader } = list.index;
  if (model.height === 0) return;
  assert.equal(list.store.position.height, model.height);
  const now = model.at.get(model.height) ?? new Map();
  const first = random.integer(modelTokens.length);
  for (const token of [...modelTokens, ...modelTokens].slice(first, first + walked))
    await checkList(reader, token, holdersOf(now, token), random);
  const rare = random.pick(rareTokens);
  await checkList(reader, rare, holdersOf(now, rare), random);
  // A token is known from the first block that moves it; from nobody to nobody nothing moves.
  for (const token of rareTokens) {
    const isKnown = blocks.slice(0, model.height).some(({ deltas }) => (deltas.get(token)?.size ?? 0) > 0);
    const found = await findToken(reader, `0x${token}`, {}).catch(() => undefined);
    assert.equal(found, isKnown ? token : undefined, `${token} at ${model.height}`);
  }
  const height = 1 + random.integer(model.height);
  await checkPast(reader, random.pick(modelTokens), model, height);
}

describe('the rich list through any history of blocks, heals, rollbacks and kills', () => {
  for (let seed = histories.first; seed < histories.first + histories.count; seed++) {
    it(`is what a plain ledger says (history ${seed})`, async () => {
      const subject = await open(await testDatabase(), seed);
      let done = '';
      for (let step = 0; step < steps; step++) {
        const dice = subject.random.integer(10);
        const action = dice < 6 ? write : dice < 8 ? heal : unwind;
        done = `step ${step}: ${action.name}`;
        try {
          await action(subject);
          const { reader } = subject.list.index;
          await checkViews(
            reader.database,
            reader.tables,
            subject.list.store.position,
            [richlistViews],
            subject.random,
          );
          if (subject.random.oneIn(2)) await check(subject, walkedNow);
        } catch (error) {
          throw new Error(`${done}: ${String(error)}`, { cause: error });
        }
      }
      await check(subject, walkedAtLast);
      assert.ok(subject.model.height > 0, done);
    });
  }
});
