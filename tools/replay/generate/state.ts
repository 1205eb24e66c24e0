import { AbiCoder } from 'ethers';
import { accountHex } from '../meaning.js';
import { pageOfList } from '../paging.js';
import type { Recording } from '../recording.js';
import type { CallResult, StateAnswer, StateSource } from '../types.js';
import { type Ledger, makeLedger, native } from './ledger.js';
import { type Account, tokenUri, type World } from './plan.js';

/** What every account has of the native token and of each other before the first block. */
export const genesisBalance = 10n ** 24n;

const balanceOf = '0x70a08231';
const name = '0x06fdde03';
const tokenURI = '0xc87b56dd';
const ownerOf = '0x6352211e';
const reverted: CallResult = { response: '', error: 'Reverted', usedGas: '0' };

/**
 * State of a generated chain: balances and owners are those that its logs lead to from a genesis where every
 * account holds 10^24 of every token; parameters, validators and whatever else is asked of a contract are the
 * recorded chain's. Balances and owners are worked out at the first question about one.
 */
export function generatedState(world: World, recording: Recording): StateSource {
  const once = lazily(world);
  const denoms = new Map([
    [native, 'GAS'],
    ...world.tokens.map((t): [string, string] => [t.hex, `evm/${t.checksummed}`]),
  ]);
  const collections = new Map(world.collections.map((c, i) => [c.hex, i]));
  const balance = (token: string, account: string, height: number): bigint =>
    (once.isAccount(account) ? genesisBalance : 0n) + once.ledger().change(token, account, height);

  const balances = (
    holder: string,
    path: string,
    query: URLSearchParams,
    height: number,
  ): StateAnswer | undefined => {
    const hex = accountHex(holder);
    if (!hex) return undefined;
    const held = [...denoms].map(([token, denom]) => ({
      denom,
      amount: String(balance(token, hex, height)),
    }));
    const list = held.filter((h) => h.amount !== '0').map((h) => JSON.stringify(h));
    return ok(pageOfList('balances', list, path, query));
  };

  return {
    rest(path, query, height) {
      const holder = /^\/cosmos\/bank\/v1beta1\/balances\/([^/]+)$/.exec(path)?.[1];
      if (holder) return balances(holder, path, query, height);
      if (path === '/cosmos/auth/v1beta1/accounts')
        return ok(pageOfList('accounts', once.accounts(), path, query));
      const token = /\/evm\/v1\/denoms\/0x([0-9a-f]{40})$/i.exec(path)?.[1]?.toLowerCase();
      const denom = token && denoms.get(token);
      if (denom) return ok(JSON.stringify({ denom }));
      if (path.endsWith('/evm/v1/contracts/by_denom')) {
        const wanted = query.get('denom') ?? '';
        const same = (d: string) =>
          d === wanted || (d.startsWith('evm/') && d.toLowerCase() === wanted.toLowerCase());
        const found = [...denoms].find(([, d]) => same(d))?.[0];
        return found ? ok(JSON.stringify({ address: `0x${found}` })) : undefined;
      }
      return recording.state.rest(path, query, recording.last);
    },
    call(to, input, height) {
      const contract = to.toLowerCase().replace(/^0x/, '');
      const method = input.slice(0, 10).toLowerCase();
      const argument = input.slice(10, 74).toLowerCase();
      const asRecorded = (address: string) => recording.state.call(`0x${address}`, input, recording.last);
      if (denoms.has(contract)) {
        if (method !== balanceOf) return asRecorded(contract === native ? native : world.tokens[0]!.hex);
        return result('uint256', balance(contract, argument.slice(24), height));
      }
      const number = collections.get(contract);
      if (number === undefined) return asRecorded(contract);
      if (method === name) return result('string', `Collection ${number}`);
      if (method !== tokenURI && method !== ownerOf) return asRecorded(world.collections[0]!.hex);
      const id = BigInt(`0x${argument || '0'}`);
      const owner = once.ledger().owner(contract, id, height);
      if (!owner) return reverted;
      return method === tokenURI ? result('string', tokenUri(id)) : result('address', `0x${owner}`);
    },
    jsonRpc: (method, params) => recording.state.jsonRpc(method, params),
    rpc: (path) => recording.state.rpc(path),
  };
}

/** What is dear to make and not always needed. */
function lazily(world: World): { ledger(): Ledger; accounts(): string[]; isAccount(hex: string): boolean } {
  let ledger: Ledger | undefined;
  let accounts: string[] | undefined;
  let hexes: Set<string> | undefined;
  const each = <T>(make: (account: Account, index: number) => T): T[] =>
    Array.from({ length: world.options.accounts }, (_, i) => make(world.account(i), i));
  return {
    ledger() {
      ledger ??= makeLedger(world);
      return ledger;
    },
    accounts() {
      accounts ??= each(baseAccount);
      return accounts;
    },
    isAccount(hex) {
      hexes ??= new Set(each((a) => a.hex));
      return hexes.has(hex);
    },
  };
}

function baseAccount(account: Account, index: number): string {
  return JSON.stringify({
    '@type': '/cosmos.auth.v1beta1.BaseAccount',
    address: account.bech32,
    pub_key: { '@type': '/initia.crypto.v1beta1.ethsecp256k1.PubKey', key: account.key64 },
    account_number: String(index + 100),
    sequence: '0',
  });
}

function ok(body: string): StateAnswer {
  return { status: 200, type: 'application/json', body };
}

function result(type: string, value: unknown): CallResult {
  return { response: AbiCoder.defaultAbiCoder().encode([type], [value]), error: '', usedGas: '60000' };
}
