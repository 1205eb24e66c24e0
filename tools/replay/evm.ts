import { members } from './json.js';
import { stateHeight, type View } from './view.js';

type Outcome = { result: string } | { error: { code: number; message: string } } | { error: string };

/** Whether a JSON-RPC method belongs to the EVM API rather than to CometBFT. */
export function isEvmMethod(method: string): boolean {
  return /^(eth|debug|net|web3|txpool|trace|personal)_/.test(method);
}

/**
 * One EVM JSON-RPC request, given as text: the answer's text. Behaves as minievm's JSON-RPC: beyond the index
 * eth_getBlockReceipts answers null (a block the chain has and the index does not is `view.notIndexed`), a
 * trace or a call beyond it is an error, block 1 cannot be traced, block 0 is read as 1.
 */
export function evmPost(view: View, request: string): { kind: string; body: string } {
  const parsed = members(request);
  const id = parsed.get('id') ?? 'null';
  const method = JSON.parse(parsed.get('method') ?? '""') as string;
  const params = JSON.parse(parsed.get('params') ?? '[]') as unknown[];
  const outcome = answer(view, method, Array.isArray(params) ? params : []);
  const kind = `evm.${outcome ? method : 'unknown'}`;
  if (!outcome) {
    const message = `the method ${method} does not exist/is not available`;
    return { kind, body: envelope(id, { error: { code: -32601, message } }) };
  }
  return { kind, body: envelope(id, outcome) };
}

function envelope(id: string, outcome: Outcome): string {
  if ('result' in outcome) return `{"jsonrpc":"2.0","id":${id},"result":${outcome.result}}`;
  const error = typeof outcome.error === 'string' ? outcome.error : JSON.stringify(outcome.error);
  return `{"jsonrpc":"2.0","id":${id},"error":${error}}`;
}

function answer(view: View, method: string, params: unknown[]): Outcome | undefined {
  if (!view.chain.source.evm) return undefined;
  switch (method) {
    case 'eth_blockNumber':
      return { result: `"0x${view.evmTip.toString(16)}"` };
    case 'eth_getBlockReceipts':
      return receipts(view, params[0]);
    case 'debug_traceBlockByNumber':
      return view.traces === 'unsupported' ? undefined : traces(view, params[0]);
    case 'eth_call':
      return call(view, params);
    default:
      return view.chain.source.state.jsonRpc(method, params);
  }
}

function receipts(view: View, tag: unknown): Outcome {
  const height = resolveTag(view, tag);
  if (height === undefined) return invalidTag(tag);
  if (view.receipts === 'null') return { result: 'null' };
  if (height > view.evmTip) return { result: height > view.tip ? 'null' : view.notIndexed };
  if (height < view.earliest)
    return failed(`height ${height} is not available, lowest height is ${view.earliest}`);
  return { result: view.chain.bodies(height)?.receipts ?? 'null' };
}

function traces(view: View, tag: unknown): Outcome {
  const height = resolveTag(view, tag);
  if (height === undefined) return invalidTag(tag);
  if (height < 2) return failed('genesis is not traceable');
  if (height - 1 > view.evmTip) return failed('requested height is greater than the latest block height');
  if (height > view.evmTip) return failed(`block #${height} not found`);
  if (height <= view.earliestState) return failed(stateGone(view, height - 1));
  return { result: view.chain.bodies(height)?.traces ?? '[]' };
}

function call(view: View, params: unknown[]): Outcome {
  const [message, tag = 'latest'] = params as [
    { to?: string; data?: string; input?: string } | undefined,
    unknown,
  ];
  const height = resolveTag(view, tag);
  if (height === undefined) return invalidTag(tag);
  if (height > view.evmTip) return failed('requested height is greater than the latest block height');
  if (height < view.earliestState) return failed(stateGone(view, height));
  const result = view.chain.source.state.call(
    message?.to ?? '',
    message?.input ?? message?.data ?? '0x',
    stateHeight(view, height),
  );
  if (!result) return { result: '"0x"' };
  return result.error ? failed(result.error) : { result: JSON.stringify(result.response) };
}

/** What a node says of state it has pruned. */
export function stateGone(view: View, height: number): string {
  return `codespace sdk code 18: invalid request: failed to load state at height ${height}; version does not exist (latest height: ${view.tip})`;
}

function resolveTag(view: View, tag: unknown): number | undefined {
  if (
    tag === null ||
    tag === undefined ||
    ['latest', 'pending', 'safe', 'finalized'].includes(tag as string)
  ) {
    return view.evmTip;
  }
  if (tag === 'earliest') return 1;
  if (typeof tag === 'object') return resolveTag(view, (tag as { blockNumber?: unknown }).blockNumber);
  if (typeof tag !== 'string' || !/^0x[0-9a-f]{1,13}$/i.test(tag)) return undefined;
  return Math.max(1, Number.parseInt(tag, 16));
}

function failed(message: string): Outcome {
  return { error: { code: -32000, message } };
}

function invalidTag(tag: unknown): Outcome {
  return {
    error: { code: -32602, message: `invalid argument 0: ${JSON.stringify(tag) ?? 'missing value'}` },
  };
}
