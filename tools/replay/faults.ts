/** How one request can fail. */
export type FaultKind =
  /** HTTP 500 with a JSON error */
  | 'http500'
  /** HTTP 502 with an HTML page, as a load balancer gives it */
  | 'html502'
  /** HTTP 429 with plain text */
  | 'http429'
  /** the connection dies in the middle of the body */
  | 'cut'
  /** a complete HTTP answer whose JSON ends in the middle */
  | 'truncated'
  /** no answer at all, the connection stays open */
  | 'timeout'
  /** TCP reset before the answer */
  | 'reset';

/** The API a request went to. */
export type Api = 'rpc' | 'rest' | 'evm';

/** Misbehaviour on demand. Everything is off unless named. */
export interface FaultOptions {
  /** same seed, same sequence of failures (default 1) */
  seed?: number;
  /** on average one request in N fails; 1 fails every one */
  fail_one_in?: number;
  /** how they fail, drawn evenly (default all but timeout) */
  kinds?: FaultKind[];
  /** only these APIs fail (default all) */
  apis?: Api[];
  /** only requests whose `METHOD path body` matches fail */
  matching?: RegExp;
  /** stop failing after so many failures */
  fail_times?: number;
  /** added to every answer */
  latency_ms?: number;
  /** on average one request in N is answered as by a node that is `stale_by` blocks behind (default 5) */
  stale_one_in?: number;
  stale_by?: number;
  /** the REST API is so many blocks behind the RPC */
  rest_lag?: number;
  /** the EVM index is so many blocks behind the chain */
  evm_lag?: number;
  /** what eth_getBlockReceipts says of a block not indexed yet (default empty) */
  not_indexed?: 'empty' | 'null';
  /** the REST API leaves these txs out of a block, `times` times (default for good) */
  missing_txs?: { height: number; index: number; times?: number }[];
  /** debug_traceBlockByNumber: unknown method, or slow by traces_latency_ms (default 2000) */
  traces?: 'unsupported' | 'slow';
  traces_latency_ms?: number;
  /** eth_getBlockReceipts answers null for every block */
  receipts?: 'null';
  /** the node was restarted as another chain: its id */
  network?: string;
  /** pruned: lowest height there is */
  earliest_height?: number;
  /** state below this height is pruned (blocks stay) */
  earliest_state?: number;
  /** websocket upgrades are refused, or connections closed right after they open */
  websocket?: 'refused' | 'closed';
}

/** What happens to one request. */
export interface Decision {
  fail: FaultKind | undefined;
  delayMs: number;
  staleBy: number;
}

/** Decides request by request. */
export interface Faults {
  options: FaultOptions;
  decide(api: Api, request: string): Decision;
  /** positions left out of a block by this request */
  missingTxs(height: number): number[];
}

const defaultKinds: FaultKind[] = ['http500', 'html502', 'http429', 'cut', 'truncated', 'reset'];

/** Starts a sequence of decisions; the same options give the same sequence. */
export function makeFaults(options: FaultOptions): Faults {
  const random = mulberry32(options.seed ?? 1);
  const kinds = options.kinds ?? defaultKinds;
  let left = options.fail_times ?? Number.POSITIVE_INFINITY;
  const missing = (options.missing_txs ?? []).map((m) => ({
    ...m,
    left: m.times ?? Number.POSITIVE_INFINITY,
  }));
  return {
    options,
    decide(api, request) {
      // both draws are made for every request, so that options do not shift each other's sequence
      const failing = random();
      const stale = random();
      const chosen =
        (options.apis?.includes(api) ?? true) && (options.matching?.test(request) ?? true) && left > 0;
      const rate = options.fail_one_in ? 1 / options.fail_one_in : 0;
      const fails = chosen && failing < rate;
      if (fails) left--;
      const slow = options.traces === 'slow' && request.includes('debug_traceBlockByNumber');
      const staleRate = options.stale_one_in ? 1 / options.stale_one_in : 0;
      return {
        fail: fails ? kinds[Math.floor((failing / rate) * kinds.length)] : undefined,
        delayMs: (options.latency_ms ?? 0) + (slow ? (options.traces_latency_ms ?? 2000) : 0),
        staleBy: stale < staleRate ? (options.stale_by ?? 5) : 0,
      };
    },
    missingTxs(height) {
      const now = missing.filter((m) => m.height === height && m.left > 0);
      for (const m of now) m.left--;
      return now.map((m) => m.index);
    },
  };
}

/** Whether nothing is to go wrong: no option but the seed is given. */
export function isWell(options: FaultOptions): boolean {
  const { seed: _seed, ...wanted } = options;
  return Object.values(wanted).every((value) => value === undefined);
}

/** A small seeded generator of numbers in [0, 1). */
export function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
