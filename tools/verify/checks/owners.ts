import { type AccountKey, parseAccount, toBech32 } from '../../../services/common/chain/address.js';
import { NodeError, parseNodeJson } from '../../../services/common/chain/endpoints.js';
import { callEvm } from '../../../services/common/chain/evm.js';
import { fetchObjectOwner } from '../../../services/common/chain/move.js';
import { type Difference, differencesOf, type Sides, type StateCheck } from '../check.js';
import { lasting } from '../lasting.js';
import { ownerInEvents } from './said.js';

interface Token {
  readonly collection_addr: string;
  readonly object_addr: string;
  readonly owner: string;
  /** Block of its last change. */
  readonly height: number;
  readonly nft: { readonly token_id: string };
}

/** Tokens that are asked for at once. */
const atOnce = 8;

interface Collection {
  readonly object_addr: string;
  readonly collection: { readonly nfts: { readonly length: number } };
}

/** Who owns each token, as its contract or object says now, and how many tokens each collection has. */
export const owners: StateCheck = {
  name: 'owners of tokens',
  appliesTo: ({ vm_type, json_rpc, rest }) => (vm_type === 'evm' ? json_rpc : rest).urls.length > 0,
  async run(sides, most = Number.POSITIVE_INFINITY) {
    const { api } = sides;
    const collections = await api.list<Collection>('/indexer/nft/v1/collections', 'collections');
    const [differences, notes]: [Difference[], string[]] = [[], []];
    let compared = 0;
    for (const { object_addr } of collections) {
      if (compared >= most) break;
      const tokens = await tokensOf(sides, object_addr, most - compared);
      const isWhole = tokens.length < most - compared;
      compared += tokens.length;
      for (let start = 0; start < tokens.length; start += atOnce) {
        const some = tokens.slice(start, start + atOnce);
        for (const found of await Promise.all(some.map((token) => compareToken(sides, token)))) {
          differences.push(...found.differences);
          notes.push(...found.notes);
        }
      }
      if (isWhole) differences.push(...(await compareLength(sides, object_addr)));
    }
    return { compared, differences, notes };
  },
};

const tokensOf = ({ api }: Sides, collection_addr: string, most?: number): Promise<Token[]> =>
  api.list<Token>(`/indexer/nft/v1/tokens/by_collection/${collection_addr}`, 'tokens', most);

/** A token whose owner differs for good: a difference, or a note where the contract denies its own events. */
async function compareToken(
  sides: Sides,
  token: Token,
): Promise<{ differences: readonly Difference[]; notes: string[] }> {
  let now: Token | undefined = token;
  const differences = await lasting(sides.signal, async (attempt) => {
    if (attempt > 0) now = await tokenNow(sides, token);
    return compare(sides, token, now);
  });
  if (differences.length === 0 || now === undefined) return { differences, notes: [] };
  const said = await ownerInEvents(sides, now, contractOf(sides, now));
  if (said === undefined || keyOf(sides, said) !== keyOf(sides, now.owner)) return { differences, notes: [] };
  return {
    differences: [],
    notes: differences.map(
      ({ what, node }) =>
        `${what}: the contract contradicts its own events: that of block ${now?.height} names the owner ${JSON.stringify(said)}, which is indexed; asked, it says ${node ?? 'that there is none'}`,
    ),
  };
}

/** The length of a collection: as many as it has tokens, each of which was compared with the node. */
function compareLength(sides: Sides, collection_addr: string): Promise<readonly Difference[]> {
  return lasting(sides.signal, async () => {
    const [answer, tokens] = await Promise.all([
      sides.api.get<{ collection: Collection }>(`/indexer/nft/v1/collections/${collection_addr}`),
      tokensOf(sides, collection_addr),
    ]);
    return differencesOf(`collection ${collection_addr}`, {
      length: [answer?.collection.collection.nfts.length, tokens.length],
    });
  });
}

/** The token as it is indexed now; undefined once it is burnt. */
async function tokenNow({ api }: Sides, { collection_addr, nft }: Token): Promise<Token | undefined> {
  const path = `/indexer/nft/v1/tokens/by_collection/${collection_addr}?token_id=${encodeURIComponent(nft.token_id)}`;
  return (await api.list<Token>(path, 'tokens', 1))[0];
}

async function compare(sides: Sides, token: Token, now: Token | undefined): Promise<Difference[]> {
  const node = await ownerOf(sides, token);
  const index = now === undefined ? undefined : keyOf(sides, now.owner);
  if (index === node) return [];
  const what = `token ${JSON.stringify(shortened(token.nft.token_id))} of ${token.collection_addr}`;
  return [{ what, part: 'owner', index: now?.owner, node: node === undefined ? undefined : `0x${node}` }];
}

/** One spelling of an account; an owner that is no account stands for itself. */
const keyOf = ({ account_prefix }: Sides, owner: string): string =>
  parseAccount(owner, account_prefix) ?? owner;

/** A token id as it is printed: one of 3,000 characters helps nobody. */
const shortened = (id: string): string => (id.length > 100 ? `${id.slice(0, 100)}...` : id);

/** A token's contract as the node spells it. */
const contractOf = ({ vm_type, account_prefix }: Sides, { collection_addr }: Token): string =>
  vm_type === 'wasm' ? toBech32(collection_addr.replace(/^0x/, ''), account_prefix) : collection_addr;

/** The owner as the node says it now; undefined when it knows no such token. */
function ownerOf(sides: Sides, token: Token): Promise<string | undefined> {
  if (sides.vm_type === 'evm') return evmOwner(sides, token);
  if (sides.vm_type === 'wasm') return wasmOwner(sides, token);
  return fetchObjectOwner(sides.rest, token.object_addr.replace(/^0x/, ''), sides.signal);
}

/** First four bytes of the hash of `ownerOf(uint256)`. */
const ownerOfSelector = '0x6352211e';

async function evmOwner({ json_rpc, signal }: Sides, token: Token): Promise<AccountKey | undefined> {
  const id = BigInt(token.nft.token_id).toString(16).padStart(64, '0');
  const call = { to: token.collection_addr, data: `${ownerOfSelector}${id}` };
  try {
    const { value } = await callEvm(json_rpc, 'eth_call', [call, 'latest'], signal);
    return typeof value === 'string' && value.length === 66 ? value.slice(26).toLowerCase() : undefined;
  } catch (error) {
    if (error instanceof NodeError && error.reason === 'error_answer') return undefined;
    throw error;
  }
}

async function wasmOwner(sides: Sides, token: Token): Promise<string | undefined> {
  const { rest, signal } = sides;
  const contract = contractOf(sides, token);
  const query = JSON.stringify({ owner_of: { token_id: token.nft.token_id } });
  const path = `/cosmwasm/wasm/v1/contract/${contract}/smart/${encodeURIComponent(Buffer.from(query).toString('base64'))}`;
  return rest.ask({ path, signal }, (status, body) => {
    const answer = parseNodeJson(status, body, 'owner_of') as { data?: { owner?: unknown } };
    const owner = answer?.data?.owner;
    return status === 200 && typeof owner === 'string' ? keyOf(sides, owner) : undefined;
  });
}
