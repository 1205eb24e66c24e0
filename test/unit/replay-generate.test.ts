import assert from 'node:assert/strict';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { computeAddress } from 'ethers';
import { decodeTxRaw } from '../../services/common/chain/txraw.js';
import { involved } from '../../tools/replay/generate/describe.js';
import { genesisBalance } from '../../tools/replay/generate/state.js';
import {
  describeGenerated,
  type GeneratedChain,
  generateChain,
  startGeneratedNode,
  type TxTruth,
} from '../../tools/replay/generate.js';
import { elements, members } from '../../tools/replay/json.js';
import { loadRecording, rawTxs, txHash } from '../../tools/replay/recording.js';
import { getFrom } from '../support/node-client.js';

const options = { blocks: 120, txs_per_block: 5, seed: 7, accounts: 300, tokens: 3, collections: 4 };
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

interface Log {
  address: string;
  topics: string[];
  data: string;
}
interface Receipt {
  transactionHash: string;
  transactionIndex: string;
  blockNumber: string;
  blockHash: string;
  from: string;
  cumulativeGasUsed: string;
  gasUsed: string;
  logs: (Log & { logIndex: string; transactionHash: string; blockNumber: string; blockHash: string })[];
}
interface Result {
  code: number;
  data: string | null;
  events: { type: string; attributes: { key: string; value: string }[] }[];
}
interface RestTx {
  body: { messages: Record<string, string>[] };
  auth_info: { signer_infos: { public_key: { key: string } }[] };
  signatures: string[];
}

const heights = (chain: GeneratedChain) => Array.from({ length: chain.last }, (_, i) => i + 1);
const resultsOf = (chain: GeneratedChain, height: number) =>
  (JSON.parse(chain.bodies(height)!.results) as { txs_results: Result[] | null }).txs_results ?? [];
const receiptsOf = (chain: GeneratedChain, height: number) =>
  JSON.parse(chain.bodies(height)!.receipts) as Receipt[];

describe('generated chain', () => {
  const chain = generateChain(options);
  const truth = new Map<number, TxTruth[]>(heights(chain).map((h) => [h, describeGenerated(chain, h)]));

  it('is the same for the same options, and another for another seed', () => {
    const again = generateChain(options);
    const other = generateChain({ ...options, seed: 8 });
    // asked in another order: a block depends on its height only
    for (const height of [120, 1, 60, 2]) {
      assert.deepEqual(again.bodies(height), chain.bodies(height));
      assert.notEqual(other.bodies(height)!.hash, chain.bodies(height)!.hash);
      assert.notDeepEqual(rawTxs(other.bodies(height)!.block), rawTxs(chain.bodies(height)!.block));
    }
    assert.equal(chain.bodies(0), undefined);
    assert.equal(chain.bodies(121), undefined);
  });

  it('links its blocks, in time', () => {
    let parent = { hash: '', time: '' };
    for (const height of heights(chain)) {
      const { hash, time, block, txCount } = chain.bodies(height)!;
      const { header } = JSON.parse(block).block;
      assert.deepEqual(
        [header.height, header.chain_id, header.time, header.last_block_id.hash],
        [String(height), 'generated-7', time, parent.hash],
      );
      assert.ok(time > parent.time);
      assert.equal(txCount, 5);
      parent = { hash, time };
    }
  });

  it('never repeats a hash, an Ethereum hash or a signature', () => {
    const all = [...truth.values()].flat();
    assert.equal(all.length, 600);
    assert.equal(new Set(all.map((t) => t.hash)).size, 600);
    const eth = all.flatMap((t) => t.eth_hash ?? []);
    assert.equal(new Set(eth).size, eth.length);
    assert.ok(eth.length > 500 && eth.length < 600, 'failed Cosmos txs have none');
    const signatures = heights(chain).flatMap((h) =>
      chain.bodies(h)!.txs.map((t) => (JSON.parse(t) as RestTx).signatures[0]),
    );
    assert.equal(new Set(signatures).size, 600);
  });

  it('has raw txs that decode to what the REST API says, with the key of the signer', () => {
    for (const height of heights(chain)) {
      const { block, txs } = chain.bodies(height)!;
      const raws = rawTxs(block);
      const expected = truth.get(height)!;
      assert.deepEqual(
        raws.map(txHash),
        expected.map((t) => t.hash),
      );
      for (const [i, raw] of raws.entries()) {
        const rest = JSON.parse(txs[i]!) as RestTx;
        assert.deepEqual(JSON.parse(decodeTxRaw(Buffer.from(raw, 'base64'))), rest);
        assert.equal(Buffer.from(rest.signatures[0]!, 'base64').length, 65);
        const key = Buffer.from(rest.auth_info.signer_infos[0]!.public_key.key, 'base64');
        const address = computeAddress(`0x${key.toString('hex')}`).toLowerCase();
        assert.deepEqual(expected[i]!.signers, [address]);
      }
    }
  });

  it('names the same accounts, amounts and logs in events, results, receipts and traces', () => {
    for (const height of heights(chain)) {
      const results = resultsOf(chain, height);
      const receipts = receiptsOf(chain, height);
      const traces = JSON.parse(chain.bodies(height)!.traces) as { txHash: string }[];
      const expected = truth.get(height)!;
      assert.deepEqual(
        receipts.map((r) => r.transactionHash),
        expected.flatMap((t) => t.eth_hash ?? []),
      );
      assert.deepEqual(
        traces.map((t) => t.txHash),
        receipts.map((r) => r.transactionHash),
      );
      let logIndex = 0;
      let gas = 0;
      for (const [i, receipt] of receipts.entries()) {
        gas += Number(receipt.gasUsed);
        assert.equal(Number(receipt.blockNumber), height);
        assert.equal(Number(receipt.transactionIndex), i + 1);
        assert.equal(Number(receipt.cumulativeGasUsed), gas);
        for (const log of receipt.logs) {
          assert.equal(Number(log.logIndex), logIndex++);
          assert.equal(log.transactionHash, receipt.transactionHash);
          assert.equal(log.blockHash, receipts[0]!.blockHash);
        }
      }
      for (const [i, result] of results.entries()) {
        assert.equal(result.code, expected[i]!.code);
        const receipt = receipts.find((r) => r.transactionHash === expected[i]!.eth_hash);
        if (!receipt || result.code !== 0) continue;
        const words = ({ address, topics, data }: Log) => ({ address: address.toLowerCase(), topics, data });
        assert.deepEqual(receipt.logs.map(words), eventLogs(result).map(words));
        const data = new BinaryReader(Buffer.from(result.data!, 'base64'));
        assert.deepEqual(data.tag(), [2, 2]);
        assert.match(Buffer.from(data.bytes()).toString('latin1'), /Response/);
        assert.equal(data.pos, data.len, 'the data of the result is framed rightly');
      }
    }
  });

  it('has no account or key of the recorded chain left in it', () => {
    const old = ['f39fd6e51aad88f6f4ce6ab8827279cfffb92266', '70997970c51812dc3a010c7d01b50e0d17dc79c8'];
    const bech = [
      'init17w0adeg64ky0daxwd2ugyuneellmjgnxdtmpqz',
      'init1wzvhjux9rqfdcwspp37srdgwp5tac7wg9ql75y',
    ];
    for (const height of heights(chain)) {
      const { block, results, txs, receipts, traces } = chain.bodies(height)!;
      const raw = rawTxs(block)
        .map((r) => Buffer.from(r, 'base64').toString('latin1'))
        .join();
      const everything = [raw, results, txs.join(), receipts, traces].join().toLowerCase();
      for (const word of [...old, ...bech]) assert.ok(!everything.includes(word), `${word} at ${height}`);
    }
  });

  it('has a few busy accounts and many rare ones', () => {
    const counts = new Map<string, number>();
    for (const t of [...truth.values()].flat()) {
      for (const s of t.signers) counts.set(s, (counts.get(s) ?? 0) + 1);
    }
    const sorted = [...counts.values()].sort((a, b) => b - a);
    assert.ok(sorted[0]! > 40, `busiest ${sorted[0]}`);
    assert.ok(sorted.filter((n) => n <= 2).length > 50);
  });

  it('has every kind of tx, failed ones too', () => {
    const kinds = new Map<string, number>();
    for (const t of [...truth.values()].flat()) kinds.set(t.kind, (kinds.get(t.kind) ?? 0) + 1);
    assert.equal(kinds.size, 8);
    assert.equal(kinds.get('mint'), 90);
    assert.deepEqual([...new Set([...truth.values()].flat().map((t) => t.msgs.join()))].sort(), [
      'cosmos.bank.v1beta1.MsgSend',
      'minievm.evm.v1.MsgCall',
    ]);
  });

  it('answers balances and owners that its logs lead to, at any height', () => {
    const balances = new Map<string, bigint>();
    const owners = new Map<string, string>();
    for (const height of heights(chain)) {
      for (const log of resultsOf(chain, height).flatMap(eventLogs)) {
        const [topic, from = '', to = '', id] = log.topics;
        if (topic !== transferTopic) continue;
        if (id) owners.set(`${log.address}|${id.slice(2)}`, to.slice(26));
        else {
          for (const [account, sign] of [
            [from, -1n],
            [to, 1n],
          ] as const) {
            const key = `${log.address}|${account.slice(2)}`;
            balances.set(key, (balances.get(key) ?? 0n) + sign * BigInt(log.data));
          }
        }
      }
      if (height % 40 !== 0) continue;
      for (const [key, change] of balances) {
        const [token = '', account = ''] = key.split('|');
        const genesis = account.endsWith('f1829676db577682e944fc3493d451b67ff3e29f') ? 0n : genesisBalance;
        const { response } = chain.state.call(token, `0x70a08231${account}`, height)!;
        assert.equal(BigInt(response), genesis + change, `${key} at ${height}`);
      }
      for (const [key, owner] of owners) {
        const [collection = '', id = ''] = key.split('|');
        assert.equal(chain.state.call(collection, `0x6352211e${id}`, height)!.response.slice(26), owner);
      }
    }
    assert.ok(balances.size > 200 && owners.size === 90);
    const [collection = '', id = ''] = [...owners.keys()].at(-1)!.split('|');
    assert.equal(chain.state.call(collection, `0x6352211e${id}`, 1)!.error, 'Reverted', 'not minted yet');
  });

  it('tells the uri that was minted', () => {
    const mint = heights(chain)
      .flatMap((h) => chain.bodies(h)!.txs)
      .map((t) => (JSON.parse(t) as RestTx).body.messages[0]!)
      .findLast((m) => m['input']?.startsWith('0xd0def521'))!;
    const uri = Buffer.from(mint['input']!.slice(202, 262), 'hex').toString();
    assert.match(uri, /^https:\/\/x\.co\/art\/0000009\d\.json$/);
    const id = Number(/(\d+)\.json/.exec(uri)![1])
      .toString(16)
      .padStart(64, '0');
    const { response } = chain.state.call(mint['contract_addr']!, `0xc87b56dd${id}`, 120)!;
    assert.ok(Buffer.from(response.slice(2), 'hex').toString().includes(uri));
  });
});

/** ERC-20 and ERC-721 logs of a tx's events, address in lower case. */
function eventLogs(result: Result): Log[] {
  return result.events
    .filter((e) => e.type === 'evm')
    .flatMap((e) => e.attributes.filter((a) => a.key === 'log'))
    .map((a) => JSON.parse(a.value) as Log)
    .map((log) => ({ ...log, address: log.address.toLowerCase() }));
}

describe('the truth about generated txs', () => {
  it('finds accounts and signers by a rule that fits the recorded chain', () => {
    const evm = loadRecording('evm');
    const { results, receipts, block } = evm.bodies(4)!;
    const result = elements(members(results).get('txs_results')!)[0]!;
    const found = involved(result, elements(receipts)[0]);
    assert.equal(
      txHash(rawTxs(block)[0]!),
      'D964845CE10E5E21BD7FDB23EB21382C2563044B87E977FFE64338752F587FF9',
    );
    assert.deepEqual(found.signers, ['0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266']);
    assert.deepEqual(found.accounts, [
      '0x0000000000000000000000000000000000000000',
      '0x042add9e80f7a23ab71d5e1d392af1d3928b7d05',
      '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
      '0xf1829676db577682e944fc3493d451b67ff3e29f',
      '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
    ]);
  });
});

describe('a node with a generated chain', () => {
  it('lists the accounts and what they hold, and goes on after the end of the chain', async () => {
    const node = await startGeneratedNode({ blocks: 30, txs_per_block: 3, accounts: 50, seed: 2, tip: 12 });
    try {
      const { source } = node.chain;
      assert.equal((await getFrom(`${node.rpc_url}/block?height=13`)).status, 500);
      node.setTip(33);
      const after = (await getFrom(`${node.rpc_url}/block?height=31`)).text;
      assert.ok(after.includes(`"last_block_id":{"hash":"${source.bodies(30)!.hash}"`));
      assert.ok(after.includes('"data":{"txs":[]}'));
      const status = await getFrom(`${node.rpc_url}/status`);
      assert.equal(status.json.result.node_info.network, 'generated-2');
      const path = `${node.rest_url}/cosmos/auth/v1beta1/accounts?pagination.limit=30`;
      const { accounts, pagination } = (await getFrom(path)).json;
      assert.equal(accounts.length, 30);
      const next = await getFrom(`${path}&pagination.key=${encodeURIComponent(pagination.next_key)}`);
      assert.deepEqual([next.json.accounts.length, next.json.pagination.next_key], [20, null]);
      const holder = `${node.rest_url}/cosmos/bank/v1beta1/balances/${accounts[29].address}`;
      assert.match((await getFrom(holder)).text, /"denom":"GAS","amount":"\d{24,25}"/);
    } finally {
      await node.close();
    }
  });
});
