import assert from 'node:assert/strict';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { indexExchanges, loadRecording } from '../../tools/replay/recording.js';
import { call, getFrom, postTo } from '../support/node-client.js';

const gas = '0x042add9e80f7a23ab71d5e1d392af1d3928b7d05';
const coin = '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512';
const art = '0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9';
const deployer = 'f39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const balanceOf = (account: string) => `0x70a08231${account.replace(/^0x/, '').padStart(64, '0')}`;

async function ethCall(
  node: ReplayNode,
  to: string,
  data: string,
  tag: unknown,
  field = 'data',
): Promise<string> {
  const { json } = await postTo(node.json_rpc_url, call('eth_call', { to, [field]: data }, tag));
  return json.result ?? `error ${json.error.message}`;
}

/** The same by REST: members in another order than recorded, and another sender. */
const restCall = (node: ReplayNode, contract_addr: string, input: string, height?: number) =>
  postTo(
    `${node.rest_url}/minievm/evm/v1/call`,
    { input, trace_options: null, contract_addr, value: '0', sender: `init1${'q'.repeat(38)}` },
    height,
  );

const rest = (node: ReplayNode, path: string, height?: number) => getFrom(node.rest_url + path, height);

describe('replay node: state by meaning', () => {
  let node: ReplayNode;
  before(async () => {
    node = await startReplayNode({ recording: 'evm' });
  });
  after(() => node.close());

  it('answers an EVM call whatever its spelling and whichever API', async () => {
    const name = await ethCall(node, art, '0x06fdde03', 'latest');
    assert.match(name, /496e746572776f76656e20417274/);
    assert.equal(await ethCall(node, art.toUpperCase().replace('0X', '0x'), '0x06FDDE03', 'pending'), name);
    assert.equal(await ethCall(node, art, '0x06fdde03', '0x9d', 'input'), name);
    assert.equal(await ethCall(node, art, '0x06fdde03', { blockNumber: '0x50' }), name);
    assert.deepEqual((await restCall(node, art, '0x06fdde03', 100)).json, {
      response: name,
      used_gas: '63071',
      logs: [],
      trace_output: '',
      error: '',
    });
  });

  it('answers a call that reverts as each API does', async () => {
    const decimals = '0x313ce567';
    assert.equal(await ethCall(node, art, decimals, 'latest'), 'error Reverted');
    const { response, error } = (await restCall(node, art, decimals)).json;
    assert.deepEqual([response, error], ['', 'Reverted']);
  });

  it('gives a call of something without code an empty answer', async () => {
    assert.equal(await ethCall(node, `0x${'12'.repeat(20)}`, '0x06fdde03', 'latest'), '0x');
  });

  it('reverts a call of a known contract that nobody recorded', async () => {
    assert.equal(await ethCall(node, art, '0xdeadbeef', 'latest'), 'error Reverted');
  });

  it('finds denoms by hex in any case, names only as spelled', async () => {
    const path = '/minievm/evm/v1/contracts/by_denom?denom=';
    const want = '{"address":"0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512"}';
    assert.equal((await rest(node, `${path}evm%2FE7F1725E7734CE288F8367E1BB143E90BB3F0512`)).text, want);
    assert.equal((await rest(node, `${path}evm/e7f1725e7734ce288f8367e1bb143e90bb3f0512`)).text, want);
    const unknown = await rest(node, `${path}gas`);
    assert.equal(unknown.status, 404);
    assert.match(unknown.text, /"code":5, "message":"collections: not found: key 'gas' of type bytes"/);
  });

  it('has no state of the future, and refuses a height that is none', async () => {
    const future = await rest(node, '/cosmos/auth/v1beta1/module_accounts', 158);
    assert.equal(future.status, 500);
    assert.match(future.text, /cannot query with height in the future/);
    assert.equal((await rest(node, '/cosmos/auth/v1beta1/module_accounts', 0)).status, 200);
    assert.equal((await rest(node, '/cosmos/auth/v1beta1/module_accounts', -1)).status, 400);
  });

  it('pages lists, forwards, by key and reversed', async () => {
    const path = '/cosmos/auth/v1beta1/accounts';
    const page = async (query: string) => (await rest(node, path + query)).json;
    const all = await page('?pagination.limit=1000');
    assert.ok(all.accounts.length > 20);
    assert.equal(all.pagination.next_key, null);
    const walked: object[] = [];
    let key: string | null = '';
    do {
      const query: string = key ? `&pagination.key=${encodeURIComponent(key)}` : '';
      const next = await page(`?pagination.limit=7${query}`);
      assert.ok(next.accounts.length <= 7);
      walked.push(...next.accounts);
      key = next.pagination.next_key;
    } while (key !== null);
    assert.deepEqual(walked, all.accounts);
    const counted = await page('?pagination.limit=2&pagination.count_total=true&pagination.reverse=true');
    assert.deepEqual(counted.accounts, all.accounts.slice(-2).reverse());
    assert.equal(counted.pagination.total, String(all.accounts.length));
  });
});

describe('replay node: balances at any height', () => {
  let node: ReplayNode;
  before(async () => {
    node = await startReplayNode({ recording: 'evm' });
  });
  after(() => node.close());

  it('lead from the recorded first balances to the recorded last ones', async () => {
    for (const account of [
      'init12fhgcd0cklf26np25c8n79yc59hgzurdnahnex',
      'init17w0adeg64ky0daxwd2ugyuneellmjgnxdtmpqz',
    ]) {
      const first = await rest(node, `/cosmos/bank/v1beta1/balances/${account}`, 1);
      assert.match(first.text, /"denom":"GAS","amount":"1000000000000000000000"/);
    }
    assert.equal(BigInt(await ethCall(node, gas, balanceOf(deployer), '0x1')), 1000n * 10n ** 18n);
    const early = await ethCall(node, coin, balanceOf(deployer), '0x1');
    assert.equal(BigInt(early), 0n, 'before the token was deployed');
  });

  it('move at the blocks with a transfer and are the same in the bank', async () => {
    const path = '/cosmos/bank/v1beta1/balances/init17w0adeg64ky0daxwd2ugyuneellmjgnxdtmpqz';
    const seen = new Set<bigint>();
    for (let height = 1; height <= 157; height += 12) {
      const amount = BigInt(await ethCall(node, gas, balanceOf(deployer), `0x${height.toString(16)}`));
      const { balances } = (await rest(node, path, height)).json;
      const own = balances.find(({ denom }: { denom: string }) => denom === 'GAS');
      assert.equal(own.amount, String(amount), `height ${height}`);
      seen.add(amount);
    }
    assert.ok(seen.size > 3, `${seen.size} different balances`);
  });

  it('conserve the supply of a token at every height', async () => {
    const recording = loadRecording('evm');
    const holders = recording.exchanges
      .flatMap((e) =>
        e.api === 'jsonrpc' ? [JSON.parse(e.requestBody!) as { method: string; params: unknown[] }] : [],
      )
      .filter((r) => r.method === 'eth_call')
      .map((r) => r.params[0] as { to: string; data: string })
      .filter((c) => c.to === gas && c.data.startsWith('0x70a08231'));
    assert.ok(holders.length > 40);
    for (const height of [1, 30, 90, 157]) {
      let sum = 0n;
      for (const { data } of holders) sum += BigInt(recording.state.call(gas, data, height)!.response);
      assert.equal(sum, 5000n * 10n ** 18n, `height ${height}`);
    }
  });

  it('stay at the fork when the chain behind it is thrown away', async () => {
    const forked = await startReplayNode({ recording: 'evm', tip: 150 });
    try {
      const at40 = await ethCall(forked, gas, balanceOf(deployer), '0x28');
      assert.notEqual(await ethCall(forked, gas, balanceOf(deployer), 'latest'), at40);
      forked.fork(41);
      assert.equal(await ethCall(forked, gas, balanceOf(deployer), 'latest'), at40);
    } finally {
      await forked.close();
    }
  });
});

describe('replay node: Move and Wasm state', () => {
  const short = '253cb035ef281234fa22e3d3613be1ec2e62128e062bafa4639d56ea436e674';
  const resource = (address: string, tag: string) =>
    `/initia/move/v1/accounts/${address}/resources/by_struct_tag?struct_tag=${tag}`;

  it('finds Move resources under shortened and padded addresses, per height', async () => {
    const node = await startReplayNode({ recording: 'move' });
    try {
      const want = await rest(node, resource(`0x${short}`, '0x1%3A%3Anft%3A%3ANft'), 41);
      assert.equal(want.status, 200);
      for (const address of [`0x0${short}`, `0x${short.toUpperCase()}`]) {
        assert.deepEqual(await rest(node, resource(address, '0x01::nft::Nft'), 41), want);
      }
      const early = await rest(node, resource(`0x${short}`, '0x1::nft::Nft'), 23);
      assert.equal(early.status, 500);
      assert.match(early.text, /collections: not found/);
      const unknown = await rest(node, resource('0xabc', '0x1::nft::Nft'));
      assert.equal(unknown.status, 500);
      assert.match(unknown.text, /key 'hexBytes:0{61}abc020{63}1036e6674034e667400' of type bytes/);
    } finally {
      await node.close();
    }
  });

  it('finds Wasm queries whatever the spaces and key order, per height', async () => {
    const node = await startReplayNode({ recording: 'wasm' });
    try {
      const cats = 'init14hj2tavq8fpesdwxxcu44rty3hh90vhujrvcmstl4zr3txmfvw9sx58pds';
      const smart = (query: string) =>
        `/cosmwasm/wasm/v1/contract/${cats}/smart/${encodeURIComponent(Buffer.from(query).toString('base64'))}`;
      const want = await rest(node, smart('{"contract_info":{}}'));
      assert.match(want.text, /Base Cats/);
      assert.deepEqual(await rest(node, smart('{ "contract_info" : {} }')), want);
      const burnt = await rest(node, smart('{"all_nft_info":{"token_id":"4"}}'), 48);
      assert.equal(burnt.status, 500);
      const again = await rest(node, smart('{"all_nft_info":{"token_id":"4"}}'), 51);
      assert.equal(again.status, 200);
      const none = await rest(node, '/cosmwasm/wasm/v1/contract/init1nobody');
      assert.match(none.text, /codespace wasm code 22: no such contract: address init1nobody/);
    } finally {
      await node.close();
    }
  });

  it('splits recorded batches and keeps answers apart by id', () => {
    const evm = loadRecording('evm');
    const header = evm.exchanges.filter((e) => /^\/block(_results)?\?height=1$/.test(e.path));
    const recording = indexExchanges([
      ...header,
      {
        api: 'jsonrpc',
        method: 'POST',
        path: '/',
        requestBody: '[{"id":1,"method":"a_b","params":[]},{"id":2,"method":"c_d","params":[]}]',
        status: 200,
        contentType: 'application/json',
        body: '[{"jsonrpc":"2.0","id":2,"result":"two"},{"jsonrpc":"2.0","id":1,"result":"one"}]',
      },
    ]);
    assert.deepEqual(recording.state.jsonRpc('a_b', []), { result: '"one"' });
    assert.deepEqual(recording.state.jsonRpc('c_d', []), { result: '"two"' });
  });
});
