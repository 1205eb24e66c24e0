import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a simulated L1 holds. Times are unix seconds; everything may be changed while it runs. */
export interface SimulatedState {
  chain_id: string;
  stage: bigint;
  stage_start_time: number;
  stage_end_time: number;
  stage_interval: number;
  challenge_period: number;
  /** Time of the newest block. */
  time: number;
  height: number;
  bridges: {
    bridge_id: bigint;
    version: bigint;
    init_stage: bigint;
    vip_l2_score_contract: string;
  }[];
  /** By bridge and version: last stage submitted. */
  last_submitted_stage: bigint;
  /** Stages of which the module still says when they were; nextStage adds to them. Without: it has no such view. */
  past?: Map<bigint, { readonly start_time: number; readonly end_time: number }>;
  total_l2_scores: bigint;
}

/** How a simulated L1 misbehaves. */
export type L1Fault =
  | 'none'
  | 'refuse'
  | 'html'
  | 'cut'
  | 'not_found'
  | 'slow'
  | 'overloaded'
  | 'limited'
  | 'failing';

/** What a gateway in front of a node says in JSON. */
const gatewayErrors: Partial<Record<L1Fault, readonly [number, string]>> = {
  not_found: [404, 'not found'],
  limited: [429, 'too many requests for stage 4: function not found in quota'],
  failing: [500, 'upstream stage not found'],
  overloaded: [503, 'no healthy upstream'],
};

/** A server that answers what an L1 answers about a rewards program. */
export interface SimulatedL1 {
  readonly url: string;
  readonly state: SimulatedState;
  /** Whether the resource is given parsed, as some gateways do. */
  isParsed: boolean;
  fault: L1Fault;
  /** Whether the time stands still although it is advanced. */
  isStanding: boolean;
  /** Requests so far. */
  readonly requests: number;
  /** Makes a block so many seconds later. */
  advance(seconds: number): void;
  /** What somebody has to call at or after the end of a stage: the next one starts where this one ends. */
  nextStage(): void;
  close(): Promise<void>;
}

export interface SimulatedOptions {
  readonly module: { readonly address: string; readonly name: string; readonly prefix: string };
  readonly state: SimulatedState;
  /** Default: any free one. */
  readonly port?: number;
}

/** What the virtual machine says where it has no answer. */
class Refusal {
  constructor(readonly message: string) {}
}

/** Starts a simulated L1. Its clock moves only when told. */
export async function startSimulatedL1({ module, state, port = 0 }: SimulatedOptions): Promise<SimulatedL1> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    if (l1.fault === 'refuse') request.socket.destroy();
    else if (l1.fault !== 'slow') void answer(request, response);
  });
  const tag = `${module.address}::${module.name}::ModuleStore`;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', 'http://l1');
    const found = answerTo(url, Buffer.concat(chunks).toString('utf8'));
    if (l1.fault === 'html') {
      response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>');
      return;
    }
    const [status, message] = gatewayErrors[l1.fault] ?? refusalOf(found) ?? [200, ''];
    const text = JSON.stringify(status === 200 ? found : { code: 2, message, details: [] });
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(l1.fault === 'cut' ? text.slice(0, text.length / 2) : text);
  };

  const refusalOf = (found: unknown): readonly [number, string] | undefined =>
    found === undefined ? [404, 'not found'] : found instanceof Refusal ? [500, found.message] : undefined;

  const answerTo = (url: URL, body: string): unknown => {
    const base = `/${module.prefix}/move/v1`;
    if (url.pathname === '/cosmos/base/tendermint/v1beta1/blocks/latest') {
      const time = `${new Date(state.time * 1000).toISOString().slice(0, 19)}.123456789Z`;
      return { block: { header: { chain_id: state.chain_id, height: String(state.height), time } } };
    }
    const resource = `${base}/accounts/${encodeURIComponent(module.address)}/resources/by_struct_tag`;
    if (url.pathname === resource && url.searchParams.get('struct_tag') === tag) {
      const data = {
        stage: String(state.stage),
        stage_start_time: String(state.stage_start_time),
        stage_end_time: String(state.stage_end_time),
        stage_interval: String(state.stage_interval),
        challenge_period: String(state.challenge_period),
      };
      if (l1.isParsed) return { data };
      const move_resource = JSON.stringify({ type: tag, data });
      return { resource: { address: module.address, struct_tag: tag, move_resource, raw_bytes: '' } };
    }
    if (url.pathname === `${base}/view/json`) {
      const view = viewOf(JSON.parse(body) as { function_name: string; args: string[] });
      return view instanceof Refusal ? view : { data: JSON.stringify(view), events: [], gas_used: '1' };
    }
    return undefined;
  };

  const viewOf = ({ function_name, args }: { function_name: string; args: string[] }): unknown => {
    if (function_name === 'get_bridge_infos')
      return state.bridges.map((bridge) => ({
        bridge_id: String(bridge.bridge_id),
        version: String(bridge.version),
        init_stage: String(bridge.init_stage),
        bridge_addr: '0x1',
        operator_addr: '0x2',
        vip_l2_score_contract: bridge.vip_l2_score_contract,
        vip_weight: '1.000000000000000000',
        vm_type: '2',
      }));
    if (function_name === 'get_stage_data' && state.past !== undefined) {
      const times = state.past.get(BigInt(JSON.parse(args[0] ?? '"0"') as string));
      if (times === undefined)
        return new Refusal(`VM aborted: location=${'1'.padStart(64, '0')}::table, code=25863`);
      return { stage_start_time: String(times.start_time), stage_end_time: String(times.end_time) };
    }
    if (function_name === 'get_last_submitted_stage') return String(state.last_submitted_stage);
    if (function_name === 'get_total_l2_scores') return String(state.total_l2_scores);
    return new Refusal(
      `VM error: status FUNCTION_RESOLUTION_FAILURE of type Verification with message Function ${function_name} does not exist`,
    );
  };

  const l1: SimulatedL1 = {
    url: '',
    state,
    isParsed: false,
    fault: 'none',
    isStanding: false,
    get requests() {
      return requests;
    },
    advance(seconds) {
      if (l1.isStanding) return;
      state.time += seconds;
      state.height += 1;
    },
    nextStage() {
      if (state.time < state.stage_end_time) throw new Error('the stage has not ended');
      const { stage, stage_start_time: start_time, stage_end_time: end_time } = state;
      state.past?.set(stage, { start_time, end_time });
      state.stage += 1n;
      state.stage_start_time = state.stage_end_time;
      state.stage_end_time += state.stage_interval;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return Object.assign(l1, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
