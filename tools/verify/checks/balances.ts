import { parseAccount } from '../../../services/common/chain/address.js';
import { NodeError, parseNodeJson } from '../../../services/common/chain/endpoints.js';
import { callEvm, hexHeight } from '../../../services/common/chain/evm.js';
import { type Difference, differencesOf, type Findings, type Sides, type StateCheck } from '../check.js';
import { lasting } from '../lasting.js';
import { supplyNotes } from './supply.js';

interface Holder {
  readonly account: string;
  readonly amount: string;
}

/** Accounts that are asked for at once, and accounts of a page. */
const [atOnce, pageSize] = [8, 1_000];

/**
 * The rich list: for accounts that the node knows, their balance of every bank denom, and for
 * holders that are listed, what the token's contract says; all at the height of the rich list. A
 * note says where the holders together do not have what there is of a token.
 */
export const balances: StateCheck = {
  name: 'balances',
  appliesTo: ({ vm_type, rest, json_rpc, rich_list_height }) =>
    vm_type === 'evm' && rest.urls.length > 0 && json_rpc.urls.length > 0 && rich_list_height > 0,
  async run(sides, most) {
    let [compared, notes]: [number, readonly string[]] = [0, []];
    const differences = await lasting(sides.signal, async () => {
      const found = await compareAll(sides, most);
      [compared, notes] = [found.compared, found.notes ?? []];
      return found.differences;
    });
    return { compared, differences, notes };
  },
};

/** What the node says: amounts by account (0x hex), by denom. */
type Amounts = Map<string, Map<string, string>>;

async function compareAll(sides: Sides, most: number | undefined): Promise<Findings> {
  const { api } = sides;
  const height = (await api.get<{ rich_list_height: number }>('/status'))?.rich_list_height ?? 0;
  const accounts = (await accountsAt(sides, height)).slice(0, most);
  const asked = accounts.map((account) => `0x${parseAccount(account, sides.account_prefix)}`);
  const expected = await bankAmounts(sides, accounts, asked, height);
  const contracts = new Map<string, string>();
  for (const denom of expected.keys()) {
    const contract = await contractOf(sides, denom, height);
    if (contract !== undefined) contracts.set(denom, contract);
  }
  // Tokens that are no bank denom are found by their logs; nothing lists them.
  const known = new Set([...contracts.values()].map((contract) => contract.toLowerCase()));
  for (const contract of await transferringContracts(sides, most)) {
    if (known.has(contract)) continue;
    const denom = `evm/${contract.slice(2)}`;
    contracts.set(denom, contract);
    expected.set(denom, await contractAmounts(sides, contract, asked, height));
  }

  const [differences, notes]: [Difference[], string[]] = [[], []];
  let compared = 0;
  for (const [denom, node] of expected) {
    const holders = await api.list<Holder>(`/indexer/richlist/v1/${encodeURIComponent(denom)}`, 'holders');
    const index = new Map(holders.map(({ account, amount }) => [account, amount]));
    const others = [...index.keys()].filter((account) => !node.has(account)).slice(0, most);
    const contract = contracts.get(denom);
    if (contract !== undefined) {
      for (const [account, amount] of await contractAmounts(sides, contract, others, height))
        node.set(account, amount);
      notes.push(...(await supplyNotes(sides, denom, contract, height, index.values())));
    }
    for (const [account, amount] of node) {
      const own = index.get(account) ?? '0';
      if (own !== '0' || amount !== '0') compared += 1;
      differences.push(
        ...differencesOf(`${denom} of ${account} at height ${height}`, { amount: [own, amount] }),
      );
    }
  }
  return { compared, differences, notes };
}

/** What accounts hold of every bank denom. */
async function bankAmounts(
  sides: Sides,
  accounts: readonly string[],
  keys: readonly string[],
  height: number,
): Promise<Amounts> {
  const amounts: Amounts = new Map();
  const held = await inTurns(accounts, (account) => balancesAt(sides, account, height));
  for (const [index, coins] of held.entries())
    for (const { denom, amount } of coins) {
      const of = amounts.get(denom) ?? new Map<string, string>();
      amounts.set(denom, of.set(keys[index] as string, amount));
    }
  return amounts;
}

/** What a token's contract says of accounts. */
async function contractAmounts(
  sides: Sides,
  contract: string,
  accounts: readonly string[],
  height: number,
): Promise<Map<string, string>> {
  const amounts = await inTurns(accounts, (account) => balanceOf(sides, contract, account, height));
  return new Map(accounts.map((account, index) => [account, amounts[index] as string]));
}

/** Asks for several at once. */
async function inTurns<T, R>(items: readonly T[], ask: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (let start = 0; start < items.length; start += atOnce)
    answers.push(...(await Promise.all(items.slice(start, start + atOnce).map(ask))));
  return answers;
}

/** The hash of `Transfer(address,address,uint256)`: with three topics a token's, with four an NFT's. */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

interface Receipt {
  readonly logs: readonly { readonly address: string; readonly topics: readonly string[] }[];
}

/** The contracts that have moved tokens, lower-case, as the receipts tell. */
async function transferringContracts({ api }: Sides, most: number | undefined): Promise<Set<string>> {
  const receipts = await api.list<Receipt>('/indexer/tx/v1/evm-txs', 'txs', most);
  return new Set(
    receipts
      .flatMap(({ logs }) => logs)
      .filter(({ topics }) => topics.length === 3 && topics[0] === transferTopic)
      .map(({ address }) => address.toLowerCase()),
  );
}

const at = (height: number) => ({ 'x-cosmos-block-height': String(height) });

/** Every account of the chain, bech32. @throws NodeError */
async function accountsAt({ rest, signal }: Sides, height: number): Promise<string[]> {
  const accounts: string[] = [];
  let key = '';
  do {
    const path = `/cosmos/auth/v1beta1/accounts?pagination.limit=${pageSize}${key === '' ? '' : `&pagination.key=${encodeURIComponent(key)}`}`;
    const page = await rest.ask({ path, headers: at(height), signal }, (status, body) =>
      readOk<{ accounts: unknown[]; pagination?: { next_key?: string | null } }>(status, body, 'accounts'),
    );
    for (const account of page.accounts) {
      // Module accounts hold theirs one level deeper; the address is the first one named.
      const address = /"address":"([a-z0-9]+)"/.exec(JSON.stringify(account))?.[1];
      if (address !== undefined) accounts.push(address);
    }
    key = page.pagination?.next_key ?? '';
  } while (key !== '');
  return accounts;
}

function balancesAt(
  { rest, signal }: Sides,
  account: string,
  height: number,
): Promise<{ denom: string; amount: string }[]> {
  const path = `/cosmos/bank/v1beta1/balances/${account}?pagination.limit=${pageSize}`;
  return rest.ask(
    { path, headers: at(height), signal },
    (status, body) =>
      readOk<{ balances: { denom: string; amount: string }[] }>(status, body, 'balances').balances,
  );
}

/** The ERC-20 contract of a denom; undefined where it has none. @throws NodeError */
async function contractOf(
  { rest, signal }: Sides,
  denom: string,
  height: number,
): Promise<string | undefined> {
  const path = `/minievm/evm/v1/contracts/by_denom?denom=${encodeURIComponent(denom)}`;
  return rest.ask({ path, headers: at(height), signal }, (status, body) =>
    status === 404
      ? undefined
      : readOk<{ address: string }>(status, body, `the contract of ${denom}`).address,
  );
}

/** First four bytes of the hash of `balanceOf(address)`. */
const balanceOfSelector = '0x70a08231';

async function balanceOf(
  { json_rpc, signal }: Sides,
  contract: string,
  account: string,
  height: number,
): Promise<string> {
  const data = `${balanceOfSelector}${account.slice(2).padStart(64, '0')}`;
  const { value } = await callEvm(json_rpc, 'eth_call', [{ to: contract, data }, hexHeight(height)], signal);
  return typeof value === 'string' && value.length > 2 ? BigInt(value).toString() : '0';
}

/** @throws NodeError for anything but HTTP 200 */
function readOk<T>(status: number, body: string, what: string): T {
  const answer = parseNodeJson(status, body, what) as T & { message?: string };
  if (status === 200) return answer;
  throw new NodeError(
    'error_answer',
    `${what}: HTTP ${status} ${String(answer?.message ?? '').slice(0, 200)}`,
  );
}
