import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import { type NftServiceClient, TokenOrder } from '../../services/common/gen/indexer/nft/v1/nft.js';
import type { RichlistServiceClient } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import { createLog } from '../../services/common/log.js';
import { createMetrics } from '../../services/common/metrics.js';
import { callRpc, streamRpc } from '../../services/common/rpc/client.js';
import { connectLocal } from '../../services/common/rpc/local.js';
import type { Happening, NftBlock } from '../../services/nft/decode/types.js';
import { lookOf as lookAtNfts } from '../../services/nft/read/look.js';
import type { Reader as NftReader } from '../../services/nft/read/reader.js';
import { nftService } from '../../services/nft/rpc.js';
import { createShower } from '../../services/nft/show.js';
import type { DecodedBlock } from '../../services/richlist/decode/block.js';
import { lookOf as lookAtRichlist } from '../../services/richlist/read/look.js';
import type { Reader as RichlistReader } from '../../services/richlist/read/reader.js';
import { richlistService } from '../../services/richlist/rpc.js';
import { answersTo, collect, createWitness, mergeAll, type Questions } from '../support/cut-readers.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { migrateNft, openNft } from '../support/nft-tables.js';
import { openTestRichlist } from '../support/richlist-tables.js';

type Fault = (point: string) => void | Promise<void>;

/** A process on tables that have six blocks, of which the last three have replaced what was before. */
interface Process {
  /** What calls are answered in the process that writes. */
  readonly questions: Questions;
  recover(): Promise<unknown>;
  /** Writes what is missing up to a block. */
  write(upTo: number): Promise<void>;
  unwind(height: number): Promise<void>;
}

interface Replica {
  readonly questions: Questions;
  /** Looks at how far the tables are. */
  look(): Promise<number>;
}

/** A service under test. */
interface Kind {
  /** Tables in which only the newest row of a key is left after a merge. */
  readonly merged: readonly string[];
  open(database: Database, prefix: string, fault: Fault): Promise<Process>;
  /** A process that only serves. */
  replica(database: Database, prefix: string): Promise<Replica>;
}

const environment = {
  ...{ log: createLog('silent'), metrics: createMetrics(), account_prefix: 'init' },
  stopping: new AbortController().signal,
};
const [top, common] = [6, 3];
const page = { key: '', offset: 0, limit: 1000, count_total: true, reverse: true };
const hashOf = (height: number): string => String(height).padStart(64, 'A');
const accountOf = (n: number): string => n.toString(16).padStart(40, '0');
const token = 'e'.repeat(40);

const richlistBlocks: readonly DecodedBlock[] = Array.from({ length: top }, (_, index) => {
  const height = index + 1;
  // Later blocks change every second balance of the earlier ones, and add holders.
  const given = height <= common ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : [1, 3, 5, 7, 9, 20 + height];
  const deltas = new Map([[token, new Map(given.map((n) => [accountOf(n), BigInt(n * height)]))]]);
  return {
    ...{ height, hash: hashOf(height), parent_hash: hashOf(height - 1) },
    ...{ deltas, created: new Set([token]), problems: [] },
  };
});

function askRichlist(reader: RichlistReader): Questions {
  const service = richlistService({ ...environment, vm_type: 'evm', reader: () => reader });
  const client = connectLocal<RichlistServiceClient>(service);
  const denom = `0x${token}`;
  return {
    list: () => callRpc(client.listHolders.bind(client), { denom, pagination: page }),
    balance: () =>
      callRpc(client.getBalance.bind(client), { denom, account: `0x${accountOf(9)}`, height: common }),
    past: () =>
      collect(
        streamRpc(client.streamHolders.bind(client), { denom, height: common }),
        ({ holders }) => holders,
      ),
    changes: () =>
      collect(
        streamRpc(client.streamChanges.bind(client), { denom, from_height: 1, to_height: common }),
        ({ changes }) => changes,
      ),
  };
}

const richlist: Kind = {
  merged: ['balances', 'holders', 'ranks'],
  async open(database, prefix, fault) {
    const { index, store } = await openTestRichlist(database, prefix, { fault, longestStretch: 4 });
    return {
      questions: askRichlist(index.reader),
      recover: () => store.recover(),
      write: (upTo) => store.writeBlocks(richlistBlocks.slice(store.position.height, upTo)),
      unwind: (height) => store.unwind(height),
    };
  },
  async replica(database, prefix) {
    const { index } = await openTestRichlist(database, prefix);
    const look = lookAtRichlist(database, index.tables, index.head);
    return {
      questions: askRichlist({ ...index.reader, look }),
      look: () => look().then(() => index.head.position.height),
    };
  },
};

const collection = 'c'.padEnd(64, '0');
const [alice, bob] = ['a'.padStart(64, '0'), 'b'.padStart(64, '0')];

const nftBlocks: readonly NftBlock[] = Array.from({ length: top }, (_, index) => {
  const height = index + 1;
  const tx = { hash: String(height).padStart(64, '0'), signer: alice };
  // The first blocks mint for one account; the later ones give and burn what was minted.
  const happenings: Happening[] = [0, 1, 2].map((n) => {
    const token_id = String((index % common) * 3 + n);
    if (height <= common) return { what: 'mint', token: { collection, token_id }, owner: alice };
    if (n === 2) return { what: 'burn', token: { collection, token_id } };
    return { what: 'transfer', token: { collection, token_id }, owner: bob };
  });
  const events = happenings.map((happening, position) => ({ ...happening, tx, index: position }));
  const timestamp = '2026-11-21T09:20:10.1Z';
  return {
    ...{ height, hash: hashOf(height), parent_hash: hashOf(height - 1), timestamp, events, problems: [] },
  };
});

function askNft(reader: NftReader): Questions {
  const show = createShower('wasm', 'init');
  const service = nftService({ ...environment, show, retryDetails: undefined, reader: () => reader });
  const client = connectLocal<NftServiceClient>(service);
  const [account, collection_addr] = [`0x${alice}`, `0x${collection}`];
  const query = { token_id: '', order_by: TokenOrder.TOKEN_ID, pagination: page };
  return {
    list: () => callRpc(client.listTokensByCollection.bind(client), { collection_addr, ...query }),
    mine: () => callRpc(client.listTokensByAccount.bind(client), { account, collection_addr: '', ...query }),
    size: () => callRpc(client.getCollection.bind(client), { collection_addr }),
    owner: () =>
      callRpc(client.getTokenOwner.bind(client), { collection_addr, token_id: '1', height: common }),
    past: () =>
      collect(
        streamRpc(client.streamAccountTokens.bind(client), { account, height: common }),
        ({ tokens }) => tokens,
      ),
  };
}

const nft: Kind = {
  merged: ['items', 'tokens', 'counts', 'collections', 'collection_order'],
  async open(database, prefix, fault) {
    await migrateNft(database, prefix);
    const { index, store, learn } = await openNft(database, prefix, { fault, vm: 'wasm' });
    return {
      questions: askNft(index.reader),
      recover: () => store.recover(),
      async write(upTo) {
        await store.writeBlocks(nftBlocks.slice(store.cursor.height, upTo));
        await learn();
      },
      unwind: (height) => store.unwind(height),
    };
  },
  async replica(database, prefix) {
    const { index } = await openNft(database, prefix);
    const look = lookAtNfts(database, index.tables, index.head).atChain;
    return {
      questions: askNft({ ...index.reader, look }),
      look: () => look().then(() => index.head.position.height),
    };
  },
};

for (const [name, kind] of Object.entries({ richlist, nft })) {
  describe(`answers while the tables of ${name} are being written`, function () {
    this.timeout(400_000);
    let database: Database;
    let prefix: string;
    let fault: Fault = () => {};
    /** By height. */
    const states: Record<string, unknown>[] = [];

    const open = () => kind.open(database, prefix, (point) => fault(point));
    const merge = () =>
      mergeAll(
        database,
        kind.merged.map((table) => `${prefix}_${name}.${table}`),
      );

    before(async () => {
      [database, prefix] = [await testDatabase(), uniquePrefix()];
      const process = await open();
      await process.recover();
      for (let height = common; height <= top; height++) {
        await process.write(height);
        states[height] = await answersTo(process.questions);
      }
    });

    beforeEach(() => {
      fault = () => {};
    });

    it('are those of the block before, at every point of a write', async () => {
      const process = await open();
      await process.recover();
      await process.unwind(common);
      const replica = await kind.replica(database, prefix);
      await replica.look();
      const points: string[] = [];
      fault = async (point) => {
        points.push(point);
        // From then on its blocks are there.
        if (points.includes('written')) return;
        await merge();
        for (const questions of [process.questions, replica.questions])
          assert.deepEqual(await answersTo(questions), states[common], points.join(', '));
      };
      await process.write(top);
      fault = () => {};
      assert.ok(points.length > 5, points.join(', '));
      assert.equal(await replica.look(), top);
      for (const questions of [process.questions, replica.questions])
        assert.deepEqual(await answersTo(questions), states[top]);
    });

    it('are those of the block before where a write was killed, and the writer stays away', async () => {
      const process = await open();
      for (let kill = 0; ; kill++) {
        await process.recover();
        await process.unwind(common);
        const replica = await kind.replica(database, prefix);
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
        const height = await replica.look();
        assert.deepEqual(await answersTo(replica.questions), states[height], `killed at ${kill}`);
      }
    });

    it('are those of a block where nobody has looked since, however much was written', async () => {
      const process = await open();
      await process.recover();
      await process.unwind(common);
      for (const question of Object.keys(process.questions)) {
        await process.unwind(common);
        const replica = await kind.replica(database, prefix);
        await replica.look();
        for (let height = common + 1; height <= top; height++) {
          await process.write(height);
          await merge();
        }
        const answer = await replica.questions[question]?.();
        const known = [states[common], states[top]].map((state) => JSON.stringify(state?.[question]));
        assert.ok(known.includes(JSON.stringify(answer)), `${question}: ${JSON.stringify(answer)}`);
      }
    });
  });

  describe(`answers while the tables of ${name} are being cut`, function () {
    this.timeout(400_000);
    let database: Database;
    let prefix: string;
    let fault: Fault = () => {};
    let states: Record<string, unknown>[];
    let process: Process;
    let replica: Questions;

    const open = () => kind.open(database, prefix, (point) => fault(point));
    /** Writes every block, and leaves nothing of what the last ones have replaced. */
    const fill = async (): Promise<void> => {
      await process.write(top);
      await mergeAll(
        database,
        kind.merged.map((table) => `${prefix}_${name}.${table}`),
      );
    };

    before(async () => {
      [database, prefix] = [await testDatabase(), uniquePrefix()];
      process = await open();
      await process.recover();
      await process.write(common);
      const after = await answersTo(process.questions);
      await fill();
      states = [await answersTo(process.questions), after];
      assert.notDeepEqual(states[0], states[1]);
      replica = (await kind.replica(database, prefix)).questions;
    });

    it('are refused or whole, from every point of the cut on', async () => {
      const witness = createWitness(states);
      const points: string[] = [];
      fault = async (point) => {
        points.push(point);
        await witness.ask(`at ${points.join(', ')}`, [process.questions, replica]);
      };
      await process.unwind(common);
      fault = () => {};
      assert.ok(points.length > 8, points.join(', '));
      assert.ok(witness.seen.refused > 20, JSON.stringify(witness.seen));
      for (const questions of [process.questions, replica])
        assert.deepEqual(await answersTo(questions), states[1]);
    });

    it('are refused or whole after a kill at any point of it, until all is whole again', async () => {
      const witness = createWitness(states);
      for (let kill = 0; ; kill += 4) {
        await fill();
        await answersTo(replica); // it has seen them as they are
        let point = 0;
        fault = () => {
          point += 1;
          if (point > kill) throw new Error('killed');
        };
        const isKilled = await process.unwind(common).then(
          () => false,
          () => true,
        );
        if (!isKilled) break;
        fault = () => {};
        process = await open();
        await witness.ask(`killed at ${kill}`, [process.questions, replica]);
        let steps = 0;
        fault = async (at) => {
          steps += 1;
          if (steps === 1 + ((kill / 4) % 3))
            await witness.ask(`${kill}, then ${at}`, [process.questions, replica]);
        };
        await process.recover();
        fault = () => {};
        const whole = await answersTo(process.questions);
        assert.ok(states.some((state) => JSON.stringify(state) === JSON.stringify(whole)));
        assert.deepEqual(await answersTo(replica), whole);
      }
      fault = () => {};
      assert.ok(witness.seen.refused > 20, JSON.stringify(witness.seen));
    });

    it('are refused or whole while a write that was killed is taken back', async () => {
      const witness = createWitness(states);
      await process.unwind(common);
      fault = (point) => {
        if (point === 'write blocks') throw new Error('killed');
      };
      await assert.rejects(process.write(top));
      await mergeAll(
        database,
        kind.merged.map((table) => `${prefix}_${name}.${table}`),
      );
      process = await open();
      let isCutting = false;
      fault = async (point) => {
        // What a batch has written before its cursor is above the head: readers know of it.
        if (isCutting) await witness.ask(`taking back: ${point}`, [process.questions, replica]);
        isCutting = true;
      };
      await process.recover();
      fault = () => {};
      assert.ok(witness.seen.refused > 20, JSON.stringify(witness.seen));
      assert.deepEqual(await answersTo(process.questions), states[1]);
      assert.deepEqual(await answersTo(replica), states[1]);
    });
  });
}
