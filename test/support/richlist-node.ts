import { toBech32 } from '../../services/common/chain/address.js';
import { readBody } from '../../services/common/util/bounded-input.js';
import { type HttpServer, serveHttp } from './http-server.js';
import { type Ledger, ledgerKey, modelAccounts, modelTokens } from './richlist-model.js';

/** How a made-up node misbehaves; everything is off unless named. */
export interface NodeTroubles {
  /** One request in N is answered with 500, with HTML, cut, or by a reset, in turn. */
  fail_one_in?: number;
  /** State below this height is pruned. */
  earliest_state?: number;
  /** Questions that a JSON-RPC batch may hold. */
  largest_batch?: number;
  /** Tokens whose contracts revert. */
  reverting?: readonly string[];
  /** Tokens whose contracts keep the node busy: a batch with one of them is not answered. */
  endless?: readonly string[];
  /** Tokens whose contracts claim that the node has pruned its state. */
  lying?: readonly string[];
  /** Lies about the next so many balances. */
  lies?: number;
  /** denoms/{address} is not answered. */
  nameless?: boolean;
  /** Accounts that the auth module has no entry for. */
  without_account?: readonly string[];
  /** What it says when asked for the owners of a denom: 501, or a page of a proxy. */
  owners?: 'unimplemented' | 'html';
  /** The balances of an account are not answered before this resolves. */
  hold_balances?: Promise<void>;
}

/** A node that answers about balances as a made-up chain has them. */
export interface RichlistNode extends HttpServer {
  /** Questions so far: rest, eth_call, batch. */
  readonly asked: Record<string, number>;
  troubles(troubles: NodeTroubles): void;
}

/** The bank's name of a model token; the last two are no bank denoms. */
export const modelDenom = (token: string): string | undefined =>
  ({ a: 'uAAA', b: 'ibc/B0B', c: undefined, d: undefined })[token[0] as 'a'];

interface Question {
  readonly id: number;
  readonly method: string;
  readonly params: [{ to: string; data: string }, string];
}

/** Starts a node. @param truthAt the balances after a block; undefined for a height that is not there. */
export async function startRichlistNode(
  truthAt: (height: number) => Ledger | undefined,
  tip: () => number,
): Promise<RichlistNode> {
  let troubles: NodeTroubles = {};
  let [requests, lies] = [0, 0];
  const asked: Record<string, number> = {};
  const count = (what: string): void => {
    asked[what] = (asked[what] ?? 0) + 1;
  };
  const isPruned = (height: number): boolean => height < (troubles.earliest_state ?? 0);
  const gone = (height: number): string =>
    `failed to load state at height ${height}; version does not exist (latest height: ${tip()})`;

  const rest = (path: string, query: URLSearchParams, header: string): [number, unknown] => {
    count('rest');
    const height = Number(header || 0) || tip();
    if (height > tip())
      return [500, { code: 2, message: 'cannot query with height in the future', details: [] }];
    if (isPruned(height)) return [500, { code: 2, message: gone(height), details: [] }];
    if (path.endsWith('/module_accounts'))
      return [
        200,
        {
          accounts: [
            { base_account: { address: toBech32(modelAccounts[0] as string, 'init') } },
            { name: 'odd' },
          ],
        },
      ];
    if (path.endsWith('/accounts')) {
      const from = Number(query.get('pagination.key') ?? 0);
      const accounts = modelAccounts
        .slice(from, from + 4)
        .filter((account) => !troubles.without_account?.includes(account))
        .map((account) => ({ address: toBech32(account, 'init') }));
      const next_key = from + 4 < modelAccounts.length ? String(from + 4) : null;
      return [200, { accounts, pagination: { next_key, total: '0' } }];
    }
    const holder = /balances\/(init1\w+)$/.exec(path)?.[1];
    if (holder !== undefined) {
      const account = modelAccounts.find((one) => toBech32(one, 'init') === holder) ?? '';
      const balances = modelTokens.flatMap((token) => {
        const [denom, amount] = [modelDenom(token), truthAt(height)?.get(ledgerKey(token, account)) ?? 0n];
        return denom === undefined || amount === 0n ? [] : [{ denom, amount: String(amount) }];
      });
      return [200, { balances, pagination: { next_key: null, total: '0' } }];
    }
    if (path.endsWith('/supply')) {
      const supply = modelTokens.flatMap((token) => {
        const denom = modelDenom(token);
        return denom === undefined ? [] : [{ denom, amount: '1' }];
      });
      return [200, { supply, pagination: { next_key: null, total: '0' } }];
    }
    const owned = /denom_owners\/([^/]+)$/.exec(path)?.[1] ?? query.get('denom');
    if (path.includes('/denom_owners')) {
      count('owners');
      if (troubles.owners === 'unimplemented')
        return [501, { code: 12, message: 'Not Implemented', details: [] }];
      if (troubles.owners === 'html') return [404, 'page not found'];
      const token = modelTokens.find((one) => modelDenom(one) === owned) ?? '';
      const from = Number(query.get('pagination.key') ?? 0);
      const denom_owners = modelAccounts.slice(from, from + 3).flatMap((account) => {
        const amount = truthAt(height)?.get(ledgerKey(token, account)) ?? 0n;
        const balance = { denom: owned, amount: String(amount) };
        return amount === 0n ? [] : [{ address: toBech32(account, 'init'), balance }];
      });
      const next_key = from + 3 < modelAccounts.length ? String(from + 3) : null;
      return [200, { denom_owners, pagination: { next_key, total: '0' } }];
    }
    const address = /denoms\/0x(\w+)$/.exec(path)?.[1];
    const missing: [number, unknown] = [404, { code: 5, message: 'not found', details: [] }];
    if (address !== undefined) {
      if (troubles.nameless) return [502, 'bad gateway'];
      const denom = modelDenom(address);
      return denom === undefined ? missing : [200, { denom }];
    }
    const wanted = modelTokens.find((token) => modelDenom(token) === query.get('denom'));
    return wanted === undefined ? missing : [200, { address: `0x${wanted.toUpperCase()}` }];
  };

  const call = ({ id, method, params }: Question): object => {
    count(method);
    if (method === 'eth_blockNumber') return { id, result: `0x${tip().toString(16)}` };
    const [{ to, data }, tag] = params;
    const [token, account, height] = [to.slice(2), data.slice(34), Number(tag)];
    if (height > tip())
      return {
        id,
        error: { code: -32000, message: 'requested height is greater than the latest block height' },
      };
    if (isPruned(height)) return { id, error: { code: -32000, message: gone(height) } };
    if (troubles.lying?.includes(token)) return { id, error: { code: -32000, message: gone(height) } };
    if (troubles.reverting?.includes(token)) return { id, error: { code: 3, message: 'execution reverted' } };
    const amount = (truthAt(height)?.get(ledgerKey(token, account)) ?? 0n) + (lies-- > 0 ? 1n : 0n);
    return { id, result: `0x${amount.toString(16).padStart(64, '0')}` };
  };

  const jsonRpc = (body: string): [number, unknown] => {
    const parsed = JSON.parse(body) as Question | Question[];
    if (!Array.isArray(parsed)) return [200, { jsonrpc: '2.0', ...call(parsed) }];
    count('batch');
    if (parsed.length > (troubles.largest_batch ?? 1_000))
      return [200, { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batch too large' } }];
    const isEndless = ({ params }: Question): boolean =>
      troubles.endless?.includes(params[0].to.slice(2)) ?? false;
    if (parsed.some(isEndless)) return [504, 'timeout'];
    // In another order than asked, as nodes may.
    return [200, parsed.map((one) => ({ jsonrpc: '2.0', ...call(one) })).reverse()];
  };

  const server = await serveHttp(async (request, response) => {
    const sent = await readBody(request, Number.MAX_SAFE_INTEGER);
    if (request.url?.includes('/balances/')) await troubles.hold_balances;
    const url = new URL(request.url ?? '/', 'http://node');
    const [status, answer] =
      request.method === 'POST'
        ? jsonRpc(sent.toString())
        : rest(url.pathname, url.searchParams, String(request.headers['x-cosmos-block-height'] ?? ''));
    const text = typeof answer === 'string' ? `<html>${answer}</html>` : JSON.stringify(answer);
    requests += 1;
    const fails = troubles.fail_one_in !== undefined && requests % troubles.fail_one_in === 0;
    const kind = fails ? (requests / (troubles.fail_one_in as number)) % 4 : -1;
    if (kind === 0) response.writeHead(500).end('{"code":2,"message":"oops","details":[]}');
    else if (kind === 1) response.writeHead(502).end('<html>bad gateway</html>');
    else if (kind === 2) response.writeHead(200).end(text.slice(0, text.length >> 1));
    else if (kind === 3) request.socket.destroy();
    else response.writeHead(status).end(text);
  });
  return {
    ...server,
    asked,
    troubles(next) {
      troubles = next;
      lies = next.lies ?? 0;
    },
  };
}
