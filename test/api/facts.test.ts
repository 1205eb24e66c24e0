import assert from 'node:assert/strict';
import { type Facts, readFacts, type TxFact, vmOf } from '../support/facts.js';
import { checkWalk } from '../support/lists.js';
import { recordedStack } from '../support/recorded-stack.js';
import { chosen, sampled } from '../support/sample.js';
import { startBefore } from '../support/suite.js';
import type { ListAnswer } from '../support/walk.js';
import { checkWalks, itemsOf, listAt } from '../support/walked-list.js';

/** A tx as the API shows it, as far as the facts speak of it. */
interface Tx {
  readonly txhash: string;
  readonly height: string;
  readonly code: number;
  readonly codespace: string;
  readonly gas_used: string;
  readonly gas_wanted: string;
  readonly timestamp: string;
  readonly tx: { readonly body: { readonly messages: readonly { readonly '@type': string }[] } };
}
type TxList = ListAnswer & { readonly txs: readonly Tx[] };

const hashesOf = ({ txs }: TxList): string[] => txs.map((tx) => tx.txhash);
const newestFirst = (txs: readonly TxFact[]): string[] => [...txs].reverse().map((tx) => tx.hash);

/** Who is involved in how many txs, where the facts and the rules of the API say so. */
const involved: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  // What the facts count is a minimum there; these follow from the API's own rule.
  move: { dave: 60 },
  wasm: { alice: 75, bob: 72, dave: 52, erin: 15 },
  'wasm-hostile': { alice: 79, bob: 75, dave: 55, erin: 15 },
};

interface Account {
  readonly name: string;
  readonly address: string;
  readonly hex: string;
  readonly txs_involved?: number;
}

function accountsOf(name: string, facts: Facts): Account[] {
  if (Array.isArray(facts.accounts)) {
    return facts.accounts.map(({ i, bech32, hex }: { i: number; bech32: string; hex: string }) => ({
      name: String(i),
      address: bech32,
      hex,
    }));
  }
  return Object.entries(facts.accounts as Record<string, Omit<Account, 'name'>>).map(([account, rest]) => ({
    ...rest,
    name: account,
    ...(involved[name]?.[account] === undefined ? {} : { txs_involved: involved[name][account] }),
  }));
}

for (const name of chosen('evm', 'wasm-hostile')) {
  describe(`everything that is true of the ${name} recording`, () => {
    const facts = readFacts(name);
    const stack = startBefore(() => recordedStack(name));

    /** Walks a list of txs, newest first, forward and back. @param txs what it must hold, oldest first */
    const expectTxs = (path: string, txs: readonly string[], limit: number) =>
      checkWalk(
        listAt<Tx>(stack, { path, member: 'txs', items: txs, shown: (tx) => tx.txhash }),
        limit,
        true,
      );
    const hashesWhere = (is: (tx: TxFact) => boolean): string[] =>
      facts.txs.filter(is).map(({ hash }) => hash);

    it('has the heights and the chain in the status', async () => {
      const status = await stack.get('/status');
      assert.deepEqual(Object.keys(status), [
        'version',
        'commit_hash',
        'chain_id',
        'height',
        'internal_tx_height',
        'rich_list_height',
      ]);
      assert.equal(status['chain_id'], facts.chain_id);
      assert.equal(status['height'], facts.height);
      assert.equal(status['rich_list_height'], vmOf(name) === 'evm' ? facts.height : 0);
    });

    it('has every tx by its hash, however the hash is written', async () => {
      for (const fact of sampled(facts.txs, 25)) {
        const { tx } = await stack.get<{ tx: Tx }>(`/indexer/tx/v1/txs/${fact.hash}`);
        assert.deepEqual(
          {
            hash: tx.txhash,
            height: Number(tx.height),
            code: tx.code,
            codespace: tx.codespace,
            gas_used: Number(tx.gas_used),
            gas_wanted: Number(tx.gas_wanted),
            msgs: [...new Set(tx.tx.body.messages.map((msg) => msg['@type'].slice(1)))].sort(),
          },
          {
            hash: fact.hash,
            height: fact.height,
            code: fact.code,
            codespace: fact.codespace,
            gas_used: fact.gas_used,
            gas_wanted: fact.gas_wanted,
            msgs: [...new Set(fact.msgs)].sort(),
          },
        );
      }
      const some = facts.txs[3]?.hash ?? '';
      for (const spelling of [some.toLowerCase(), `0x${some}`, `0X${some.toLowerCase()}`]) {
        assert.equal((await stack.get<{ tx: Tx }>(`/indexer/tx/v1/txs/${spelling}`)).tx.txhash, some);
      }
    });

    it('lists all txs newest first, and oldest first, with exact totals, walked forward and back', async () => {
      const items = facts.txs.map(({ hash }) => hash);
      const list = { path: '/indexer/tx/v1/txs', member: 'txs', items, shown: (tx: Tx) => tx.txhash };
      await checkWalks(stack, list, 17);
      assert.equal(items.length, facts.txs_total);
    });

    it('filters by every message type, and by several at once', async () => {
      const types = Object.keys(facts.msg_type_counts);
      for (const type of types) {
        const expected = hashesWhere(({ msgs }) => msgs.includes(type));
        assert.equal(expected.length, facts.msg_type_counts[type]);
        await expectTxs(`/indexer/tx/v1/txs?msgs=/${type}`, expected, 9);
      }
      const [a, b] = [types[0] ?? '', types.at(-1) ?? ''];
      const both = hashesWhere(({ msgs }) => msgs.includes(a) || msgs.includes(b));
      for (const query of [`msgs=${a},${b}`, `msgs=${a}&msgs=${b}`, `msgs=%2F${b}%2C${a},`])
        await expectTxs(`/indexer/tx/v1/txs?${query}`, both, 13);
      const none = await stack.get<TxList>('/indexer/tx/v1/txs?msgs=no.such.v1.Msg');
      assert.deepEqual([none.txs, none.pagination.total], [[], '0']);
    });

    it('has the txs of every block', async () => {
      const heights = Array.from({ length: facts.height }, (_, index) => index + 1);
      for (const height of sampled(heights, 30)) {
        const expected = newestFirst(facts.txs.filter((tx) => tx.height === height));
        const page = await stack.get<TxList>(`/indexer/tx/v1/txs/by_height/${height}?pagination.limit=1000`);
        assert.deepEqual(hashesOf(page), expected);
        assert.equal(page.pagination.total, String(expected.length));
      }
      const beyond = await stack.get<TxList>(`/indexer/tx/v1/txs/by_height/${facts.height + 1}`);
      assert.deepEqual([beyond.txs, beyond.pagination.total], [[], '0']);
    });

    it('has the txs that every account signed', async () => {
      for (const account of sampled(accountsOf(name, facts), 4)) {
        const expected = hashesWhere(({ signers }) => signers.includes(account.address));
        await expectTxs(`/indexer/tx/v1/txs/by_account/${account.address}?is_signer=true`, expected, 7);
      }
    });

    it('has the txs that name an account, however the account is written', async () => {
      for (const account of sampled(accountsOf(name, facts), 4)) {
        const path = `/indexer/tx/v1/txs/by_account/${account.address}`;
        const all = hashesOf(await stack.get<TxList>(`${path}?pagination.limit=1000`));
        if (account.txs_involved !== undefined) assert.equal(all.length, account.txs_involved, account.name);
        const named = hashesWhere(({ hash }) => all.includes(hash));
        assert.deepEqual(all, named.toReversed(), 'each once, newest first');
        await expectTxs(path, named, 11);
        for (const spelling of [
          account.hex,
          account.hex.toUpperCase().replace('0X', '0x'),
          account.address.toUpperCase(),
        ]) {
          const page = await stack.get<TxList>(
            `/indexer/tx/v1/txs/by_account/${spelling}?pagination.limit=5`,
          );
          assert.deepEqual(hashesOf(page), all.slice(0, 5));
        }
      }
    });

    it('filters the txs of an account by message types', async () => {
      for (const account of sampled(accountsOf(name, facts), 3)) {
        const path = `/indexer/tx/v1/txs/by_account/${account.address}`;
        const all = hashesOf(await stack.get<TxList>(`${path}?pagination.limit=1000`));
        for (const type of sampled(Object.keys(facts.msg_type_counts), 4)) {
          const expected = hashesWhere(({ hash, msgs }) => all.includes(hash) && msgs.includes(type));
          await expectTxs(`${path}?msgs=${type}`, expected, 10);
        }
      }
    });

    it('counts an offset from the end that the order begins with', async () => {
      const all = newestFirst(facts.txs);
      for (const offset of [0, 1, 50, all.length - 1, all.length, all.length + 5]) {
        const page = await stack.get<TxList>(
          `/indexer/tx/v1/txs?pagination.offset=${offset}&pagination.limit=5`,
        );
        assert.deepEqual(hashesOf(page), all.slice(offset, offset + 5));
        const up = await stack.get<TxList>(
          `/indexer/tx/v1/txs?pagination.offset=${offset}&pagination.limit=5&pagination.reverse=false`,
        );
        assert.deepEqual(hashesOf(up), [...all].reverse().slice(offset, offset + 5));
      }
    });

    if (facts.holders !== undefined) {
      it('lists the holders of every denom, forward and back, by page and offset', async () => {
        for (const [denom, holders] of Object.entries(facts.holders ?? {})) {
          const path = `/indexer/richlist/v1/${encodeURIComponent(denom)}`;
          for (const limit of [1, 3, 1000])
            await checkWalks(stack, { path, member: 'holders', items: holders.toReversed() }, limit);
          for (const offset of [0, 1, 5, holders.length, holders.length + 7]) {
            const page = await stack.get<ListAnswer>(
              `${path}?pagination.offset=${offset}&pagination.limit=2`,
            );
            assert.deepEqual(itemsOf([page], 'holders'), holders.slice(offset, offset + 2));
          }
        }
      });

      it('finds a denom however it is written', async () => {
        const coin = 'e7f1725E7734CE288F8367e1Bb143E90bb3F0512';
        const holders = facts.holders?.[`evm/${coin}`];
        for (const spelling of [
          `evm/${coin}`,
          `evm%2F${coin.toLowerCase()}`,
          `EVM/${coin.toUpperCase()}`,
          `0x${coin}`,
          `0X${coin.toUpperCase()}`,
          `0x${coin.toLowerCase()}/`,
        ]) {
          const page = await stack.get<ListAnswer>(`/indexer/richlist/v1/${spelling}`);
          assert.deepEqual(itemsOf([page], 'holders'), holders, spelling);
        }
        for (const spelling of ['gas', 'GaS', '%47AS', '0x042adD9e80f7a23Ab71D5e1d392af1d3928B7D05']) {
          const page = await stack.get<ListAnswer>(`/indexer/richlist/v1/${spelling}`);
          assert.deepEqual(itemsOf([page], 'holders'), facts.holders?.['GAS'], spelling);
        }
        for (const unknown of ['nosuch', 'gas2', 'ibc/00', `0x${'1'.repeat(40)}`, 'evm/zz', '%00', 'GAS%20'])
          await stack.get(`/indexer/richlist/v1/${unknown}`, 404);
      });
    }

    if (vmOf(name) !== 'evm') {
      it('has no rich list', async () => {
        const { code } = await stack.get<{ code: number }>('/indexer/richlist/v1/umin', 501);
        assert.equal(code, 12);
        assert.equal((await stack.get('/status'))['rich_list_height'], 0);
      });

      it('has no EVM routes', async () => {
        for (const route of [
          'evm-txs',
          'evm-internal-txs',
          'evm-txs/by_height/3',
          `evm-txs/${'0'.repeat(64)}`,
        ]) {
          const { code } = await stack.get<{ code: number }>(`/indexer/tx/v1/${route}`, 501);
          assert.equal(code, 12);
        }
      });
    }
  });
}
