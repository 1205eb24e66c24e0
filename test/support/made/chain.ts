import { createHash } from 'node:crypto';
import { type AccountKey, toBech32 } from '../../../services/common/chain/address.js';
import { type Random, randomFrom } from '../random.js';
import type { BlockContent } from '../tx-block-source.js';
import { emptyWorld, type MadeMoment, type MadeWorld } from './world.js';

/** An event as block_results have it. */
export interface MadeEvent {
  readonly type: string;
  readonly attributes: readonly { readonly key: string; readonly value: string; readonly index: boolean }[];
}

/** What a generator is given to do something with. */
export interface MadeAct {
  readonly world: MadeWorld;
  readonly random: Random;
  readonly moment: MadeMoment;
  readonly accounts: readonly AccountKey[];
  emit(type: string, attributes: readonly (readonly [string, string])[]): void;
}

/** Does one of the things that happen on a virtual machine: events, and what is true after them. */
export type MadeActor = (act: MadeAct) => void;

/** A chain that nobody has recorded. The same seed gives the same one. */
export interface MadeChain {
  readonly height: number;
  readonly accounts: readonly AccountKey[];
  /** Makes the next block. */
  contentOf(height: number): BlockContent;
  /** Takes blocks back; those that come then are others. */
  cutTo(height: number): void;
  /** The state after a block. */
  worldAt(height: number): MadeWorld;
}

/** Most txs of a block, and most things that a tx does. */
const [mostTxs, mostActs] = [5, 6];

/** Makes a chain of what an actor does. */
export function madeChain(actor: MadeActor, seed: number): MadeChain {
  const random = randomFrom(seed);
  const worlds: MadeWorld[] = [emptyWorld()];
  let made = 0;
  const accounts = Array.from({ length: 7 }, (_, index) =>
    // One is short, as Move writes them.
    index === 0
      ? '1'.padStart(40, '0')
      : createHash('sha256').update(`${seed}/${index}`).digest('hex').slice(0, 40),
  );

  const events = (world: MadeWorld, moment: MadeMoment, acts: number): MadeEvent[] => {
    const list: MadeEvent[] = [];
    const emit: MadeAct['emit'] = (type, attributes) =>
      list.push({ type, attributes: attributes.map(([key, value]) => ({ key, value, index: true })) });
    if (moment.signer !== '')
      emit('tx', [['acc_seq', `${toBech32(moment.signer, 'init')}/${moment.height}`]]);
    for (let n = 0; n < acts; n++) actor({ world, random, moment, accounts, emit });
    return list;
  };

  const nextBlock = (): BlockContent => {
    made += 1;
    const height = worlds.length;
    const world = structuredClone(worlds.at(-1) as MadeWorld);
    const timestamp = new Date(Date.UTC(2026, 10, 21, 9, 0, made))
      .toISOString()
      .replace('000Z', '123456789Z');
    let order = 0;
    const next = () => order++;
    const txs = Array.from({ length: random.integer(mostTxs) }, (_, index) => {
      const raw = Buffer.from(`${seed}/${made}/${index}`);
      const hash = createHash('sha256').update(raw).digest('hex').toUpperCase();
      const moment = { height, timestamp, hash, signer: random.pick(accounts), next };
      const fails = random.oneIn(6);
      // What a failed tx did is undone, but its events may be there.
      const list = events(fails ? structuredClone(world) : world, moment, 1 + random.integer(mostActs));
      const result = { code: fails ? 5 : random.oneIn(2) ? 0 : null, events: list };
      const text = Buffer.from(JSON.stringify(result));
      return { raw, result: text, decoded: Buffer.from('{}'), decoded_locally: false };
    });
    const hook = { height, timestamp, hash: '', signer: '', next };
    const block_events = random.oneIn(4) ? events(world, hook, 1) : [];
    worlds.push(world);
    return {
      timestamp,
      tx_count: txs.length,
      material: {
        txs,
        receipts: Buffer.from('[]'),
        block_events: Buffer.from(JSON.stringify(block_events)),
      },
    };
  };

  return {
    accounts,
    get height() {
      return worlds.length - 1;
    },
    contentOf(height) {
      if (height !== worlds.length) throw new Error(`block ${height} does not come next`);
      return nextBlock();
    },
    cutTo(height) {
      worlds.length = height + 1;
    },
    worldAt: (height) => worlds[height] ?? emptyWorld(),
  };
}
