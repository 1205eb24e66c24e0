import type { ServerResponse } from 'node:http';
import { AbiCoder, encodeBytes32String } from 'ethers';
import { parseAccount, toBech32 } from '../../../services/common/chain/address.js';
import { readBody } from '../../../services/common/util/bounded-input.js';
import { type HttpServer, serveHttp } from '../http-server.js';
import { randomFrom } from '../random.js';
import type { MadeChain } from './chain.js';
import type { MadeContract, MadeToken, MadeWorld } from './world.js';

/** How a node of a made-up chain misbehaves; everything is off unless named. */
export interface MadeTroubles {
  /** One request in N fails, by an error, a proxy's page, a cut body or a reset. */
  readonly fail_one_in?: number;
  /** One request in N is answered by a node behind the load balancer that is some blocks behind. */
  readonly stale_one_in?: number;
  /** State below this many blocks from the tip is pruned. */
  readonly keeps?: number;
}

/** A node that is asked for details of a made-up chain. */
export interface MadeNode extends HttpServer {
  troubles(troubles: MadeTroubles): void;
}

type Answer = readonly [status: number, body: unknown];

const missing = (text: string): Answer => [500, { code: 2, message: text, details: [] }];
const abi = AbiCoder.defaultAbiCoder();
const textResult = (text: string): string => abi.encode(['string'], [text]);

/** Starts a node whose tip is the chain's. */
export async function startMadeNode(chain: MadeChain, seed: number): Promise<MadeNode> {
  const random = randomFrom(seed);
  let troubles: MadeTroubles = {};

  /** The height of whoever answers. */
  const heightNow = (): number => {
    const isStale = troubles.stale_one_in !== undefined && random.oneIn(troubles.stale_one_in);
    return Math.max(0, chain.height - (isStale ? 1 + random.integer(6) : 0));
  };

  const rest = (path: string, query: URLSearchParams, header: string): Answer => {
    const tip = heightNow();
    const asked = Number(header || 0);
    if (asked > tip)
      return missing('codespace sdk code 26: invalid height: cannot query with height in the future');
    if (asked !== 0 && asked <= tip - (troubles.keeps ?? Number.POSITIVE_INFINITY))
      return missing(
        `failed to load state at height ${asked}; version does not exist (latest height: ${tip})`,
      );
    return restOf(chain.worldAt(asked === 0 ? tip : asked), path, query);
  };

  const jsonRpc = (body: string): Answer => {
    const tip = heightNow();
    const world = chain.worldAt(tip);
    const answers = (
      JSON.parse(body) as { id: number; method: string; params: [{ to: string; data: string }] }[]
    ).map(({ id, method, params }) =>
      method === 'eth_blockNumber'
        ? { id, result: `0x${tip.toString(16)}` }
        : { id, ...callOf(world, params[0].to.slice(2), params[0].data) },
    );
    return [200, random.oneIn(2) ? answers.reverse() : answers];
  };

  const fail = (response: ServerResponse, text: string): void => {
    const kind = random.integer(4);
    if (kind === 0) response.writeHead(500).end('{"code":2,"message":"oops","details":[]}');
    else if (kind === 1) response.writeHead(502).end('<html>bad gateway</html>');
    else if (kind === 2) response.writeHead(200).end(text.slice(0, text.length >> 1));
    else response.destroy();
  };

  const server = await serveHttp(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://node');
    const [status, body] =
      request.method === 'POST'
        ? jsonRpc((await readBody(request, Number.MAX_SAFE_INTEGER)).toString())
        : rest(url.pathname, url.searchParams, String(request.headers['x-cosmos-block-height'] ?? ''));
    const text = JSON.stringify(body);
    const { fail_one_in } = troubles;
    if (fail_one_in !== undefined && random.oneIn(fail_one_in)) fail(response, text);
    else response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  });
  return {
    ...server,
    troubles(next) {
      troubles = next;
    },
  };
}

/** eth_call of name() and tokenURI(). */
function callOf(world: MadeWorld, to: string, data: string): object {
  const contract = world.contracts.get(to);
  const reverted = { error: { code: 3, message: 'execution reverted' } };
  if (contract === undefined) return { result: '0x' };
  if (data === '0x06fdde03') {
    if (contract.kind === 'bytes32') return { result: encodeBytes32String(contract.name ?? '') };
    if (contract.name !== undefined) return { result: textResult(contract.name) };
    return contract.kind === 'late' ? { result: '0x' } : reverted;
  }
  if (!data.startsWith('0xc87b56dd')) return reverted;
  const token = contract.tokens.get(String(BigInt(`0x${data.slice(10)}`)));
  return token === undefined || token.burnt || token.uri === undefined
    ? reverted
    : { result: textResult(token.uri) };
}

function restOf(world: MadeWorld, path: string, query: URLSearchParams): Answer {
  const object = /^\/initia\/move\/v1\/accounts\/([^/]+)\/resources\/by_struct_tag$/.exec(path)?.[1];
  if (object !== undefined)
    return resourceOf(world, parseAccount(object, 'init') ?? '', query.get('struct_tag') ?? '');
  const [, address = '', smart] =
    /^\/cosmwasm\/wasm\/v1\/contract\/([^/]+)(?:\/smart\/(.+))?$/.exec(path) ?? [];
  const contract = world.contracts.get(parseAccount(address, 'init') ?? '');
  if (contract === undefined) return missing('codespace wasm code 22: no such contract');
  if (smart === undefined)
    return [200, { address, contract_info: { code_id: '1', creator: toBech32(contract.creator, 'init') } }];
  const message = JSON.parse(Buffer.from(decodeURIComponent(smart), 'base64').toString()) as Record<
    string,
    { token_id?: string }
  >;
  return smartOf(contract, message);
}

const unknownVariant = missing('Error parsing into type cw: unknown variant: query wasm contract failed');

function smartOf(contract: MadeContract, message: Record<string, { token_id?: string }>): Answer {
  if ('contract_info' in message)
    return contract.name === undefined
      ? unknownVariant
      : [200, { data: { name: contract.name, symbol: 'S' } }];
  if (['mute', 'wild', 'pretender'].includes(contract.kind)) return unknownVariant;
  const token = contract.tokens.get(message['nft_info']?.token_id ?? '-');
  if (token === undefined || token.burnt) return missing('cw721: token not found');
  return [200, { data: { token_uri: token.uri ?? null, extension: {} } }];
}

function resourceOf(world: MadeWorld, object: string, struct_tag: string): Answer {
  const of = (type: string, data: object): Answer => [
    200,
    {
      resource: {
        address: `0x${object}`,
        struct_tag: type,
        move_resource: JSON.stringify({ type, data }),
        raw_bytes: '',
      },
    },
  ];
  const collection = world.contracts.get(object);
  if (struct_tag === '0x1::collection::Collection' && collection !== undefined)
    return of(struct_tag, {
      name: collection.name,
      creator: `0x${collection.creator}`,
      nfts: { handle: '0x1', length: '0' },
    });
  if (struct_tag === '0x1::nft::Nft')
    for (const { address, tokens } of world.contracts.values()) {
      const token = [...tokens.values()].find((one: MadeToken) => one.object === object && !one.burnt);
      if (token !== undefined)
        return of(struct_tag, { collection: { inner: `0x${address}` }, token_id: token.id, uri: token.said });
    }
  return missing(`collections: not found: key 'hexBytes:${object}' of type bytes`);
}
