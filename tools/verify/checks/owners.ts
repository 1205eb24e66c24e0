import { type AccountKey, parseAccount, toBech32 } from '../../../services/common/chain/address.js';
import { NodeError, parseNodeJson } from '../../../services/common/chain/endpoints.js';
import { callEvm } from '../../../services/common/chain/evm.js';
import { fetchObjectOwner } from '../../../services/common/chain/move.js';
import type { Difference, Sides, StateCheck } from '../check.js';
import { lasting } from '../lasting.js';

interface Token {
  readonly collection_addr: string;
  readonly object_addr: string;
  readonly owner: string;
  readonly nft: { readonly token_id: string };
}

/** Tokens that are asked for at once. */
const atOnce = 8;

/** Who owns each token, as its contract or object says now. */
export const owners: StateCheck = {
  name: 'owners of tokens',
  appliesTo: ({ vm_type, json_rpc, rest }) => (vm_type === 'evm' ? json_rpc : rest).urls.length > 0,
  async run(sides, most = Number.POSITIVE_INFINITY) {
    const { api } = sides;
    const collections = await api.list<{ object_addr: string }>('/indexer/nft/v1/collections', 'collections');
    const differences: Difference[] = [];
    let compared = 0;
    for (const { object_addr } of collections) {
      if (compared >= most) break;
      const path = `/indexer/nft/v1/tokens/by_collection/${object_addr}`;
      const tokens = await api.list<Token>(path, 'tokens', most - compared);
      compared += tokens.length;
      for (let start = 0; start < tokens.length; start += atOnce) {
        const found = await Promise.all(
          tokens.slice(start, start + atOnce).map((token) =>
            lasting(sides.signal, async (attempt) => {
              const now = attempt === 0 ? token : await tokenNow(sides, token);
              return compare(sides, token, now);
            }),
          ),
        );
        differences.push(...found.flat());
      }
    }
    return { compared, differences };
  },
};

/** The token as it is indexed now; undefined once it is burnt. */
async function tokenNow({ api }: Sides, { collection_addr, nft }: Token): Promise<Token | undefined> {
  const path = `/indexer/nft/v1/tokens/by_collection/${collection_addr}?token_id=${encodeURIComponent(nft.token_id)}`;
  return (await api.list<Token>(path, 'tokens', 1))[0];
}

async function compare(sides: Sides, token: Token, now: Token | undefined): Promise<Difference[]> {
  const node = await ownerOf(sides, token);
  const index = now === undefined ? undefined : keyOf(sides, now.owner);
  if (index === node) return [];
  const what = `token ${JSON.stringify(token.nft.token_id)} of ${token.collection_addr}`;
  return [{ what, part: 'owner', index: now?.owner, node: node === undefined ? undefined : `0x${node}` }];
}

/** One spelling of an account; an owner that is no account stands for itself. */
const keyOf = ({ account_prefix }: Sides, owner: string): string =>
  parseAccount(owner, account_prefix) ?? owner;

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
  const { rest, signal, account_prefix } = sides;
  const contract = toBech32(token.collection_addr.replace(/^0x/, ''), account_prefix);
  const query = JSON.stringify({ owner_of: { token_id: token.nft.token_id } });
  const path = `/cosmwasm/wasm/v1/contract/${contract}/smart/${encodeURIComponent(Buffer.from(query).toString('base64'))}`;
  return rest.ask({ path, signal }, (status, body) => {
    const answer = parseNodeJson(status, body, 'owner_of') as { data?: { owner?: unknown } };
    const owner = answer?.data?.owner;
    return status === 200 && typeof owner === 'string' ? keyOf(sides, owner) : undefined;
  });
}
