import { LRUCache } from 'lru-cache';
import { emptyBlock, emptyBlockHash, type Parent, type RpcBlock, rehash, sha256 } from './empty.js';
import { nanoseconds, rfc3339 } from './time.js';
import type { BlockBodies, ChainSource } from './types.js';

/** From this height on the chain is another one. */
export interface Fork {
  /** first height that differs */
  at: number;
  /** 1 for the first fork, and so on: part of the hashes */
  id: number;
  /** whether the forked blocks keep the txs of the source; otherwise they are empty */
  keepTxs: boolean;
}

/** A source that never ends, and that can fork. Knows nothing of a tip. */
export interface Chain {
  source: ChainSource;
  /** the bodies of a height >= source.first; undefined below it */
  bodies(height: number): BlockBodies | undefined;
  /** block hash of a height, without building its bodies */
  hash(height: number): string;
  /** starts another chain at a height; forks above it are forgotten */
  fork(at: number, keepTxs: boolean): void;
  forks(): readonly Fork[];
}

/**
 * Follows a source beyond its end with empty blocks `blockTimeMs` apart. Every block is a pure function of the
 * source, the height and the forks, so two nodes on the same recording show the same chain.
 */
export function makeChain(source: ChainSource, blockTimeMs: number, forks: Fork[] = []): Chain {
  const made = new LRUCache<string, BlockBodies>({ max: 4000 });
  const end = source.bodies(source.last)!;
  const template = {
    block: JSON.parse(end.block) as RpcBlock,
    results: JSON.parse(end.results) as Record<string, unknown>,
  };
  const endTime = nanoseconds(end.time);
  let nextFork = Math.max(0, ...forks.map((f) => f.id)) + 1;

  const forkAt = (height: number): Fork | undefined => forks.findLast((f) => f.at <= height);

  const time = (height: number): string =>
    height <= source.last
      ? source.bodies(height)!.time
      : rfc3339(endTime + BigInt(height - source.last) * BigInt(blockTimeMs) * 1_000_000n);

  const hash = (height: number): string => {
    const fork = forkAt(height);
    if (!fork && height <= source.last) return source.bodies(height)?.hash ?? '';
    return emptyBlockHash(source.chainId, height, fork?.id ?? 0);
  };

  const parentOf = (height: number): Parent => {
    const parentHash = hash(height - 1);
    const recorded = !forkAt(height - 1) && height - 1 <= source.last;
    const partsHash = recorded ? source.bodies(height - 1)!.partsHash : sha256(`parts/${parentHash}`);
    return { height: height - 1, hash: parentHash, partsHash, time: time(height - 1) };
  };

  return {
    source,
    hash,
    forks: () => forks,
    fork(at, keepTxs) {
      if (at <= source.first) throw new Error(`a fork needs a parent: height ${at} is the first one`);
      forks = [...forks.filter((f) => f.at < at), { at, id: nextFork++, keepTxs }];
    },
    bodies(height) {
      const fork = forkAt(height);
      if (height < source.first) return undefined;
      if (!fork && height <= source.last) return source.bodies(height);
      const key = `${height}/${fork?.id ?? 0}`;
      let bodies = made.get(key);
      if (!bodies) {
        const recorded = fork?.keepTxs && height <= source.last ? source.bodies(height) : undefined;
        bodies = recorded
          ? rehash(recorded, parentOf(height), hash(height))
          : emptyBlock(template, parentOf(height), hash(height), time(height));
        made.set(key, bodies);
      }
      return bodies;
    },
  };
}
