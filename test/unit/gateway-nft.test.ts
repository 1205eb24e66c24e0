import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { toBech32 } from '../../services/common/chain/address.js';
import { RpcError } from '../../services/common/runtime/errors.js';
import { startTestGateway, until } from '../support/gateway-client.js';
import { startBeforeEach } from '../support/suite.js';

const nft = '/indexer/nft/v1';
const key = 'cf7ed3acca5a467e9e704c703e8d87f634fb0fc9';

describe('gateway: NFT routes', () => {
  const gateway = startBeforeEach(
    () => startTestGateway({ CACHE_MB: '0' }),
    (gateway) => gateway.stop(),
  );

  const requests = (method: string) =>
    gateway.fakes.calls.filter((call) => call.method === method).map(({ request }) => request);

  it('the txs of a token are those that the tx service has for their hashes', async () => {
    const answer = await gateway.get(`${nft}/txs/0x${key}/4?pagination.limit=2`);
    assert.equal(answer.status, 200);
    const { txs, pagination } = answer.json();
    assert.deepEqual(
      txs.map(({ height }: { height: string }) => height),
      ['5', '4'],
    );
    assert.equal(pagination.total, '5');
    const [request = {}] = requests('getTxsByHashes');
    assert.equal((request['tx_hashes'] as string[]).length, 2);
    assert.equal(request['height'], 2);
  });

  it('while the tx service is behind, the answer is that it is, and never a page with a hole', async () => {
    gateway.fakes.instead.set('getTxsByHashes', async () => {
      throw new RpcError(status.UNAVAILABLE, 'block 5 is not indexed yet');
    });
    const answer = await gateway.get(`${nft}/txs/0x${key}/4`);
    assert.equal(answer.status, 503);
    assert.equal(answer.headers['retry-after'], '1');
  });

  it('a token without txs does not ask the tx service', async () => {
    const answer = await gateway.get(`${nft}/txs/0x${key}/none`);
    assert.deepEqual(answer.json(), { txs: [], pagination: { next_key: '', previous_key: '', total: '0' } });
    assert.equal(requests('getTxsByHashes').length, 0);
  });

  it('a value that finds nothing is decoded once more, and only then', async () => {
    for (const token_id of ['4', 'a%252Fb', '50%25'])
      await gateway.get(`${nft}/tokens/by_collection/0x${key}?token_id=${token_id}`);
    assert.deepEqual(
      requests('listTokensByCollection').map(({ token_id }) => token_id),
      ['4', 'a%2Fb', 'a/b', '50%'],
    );
    await gateway.get(`${nft}/collections/by_name/a%2520b`);
    assert.deepEqual(
      requests('listCollectionsByName').map(({ name }) => name),
      ['a%20b'],
    );
    await gateway.get(`${nft}/txs/0x${key}/%2534`);
    assert.deepEqual(
      requests('listTokenTxs').map(({ token_id }) => token_id),
      ['%34', '4'],
    );
  });

  it('a key that belongs to the other spelling is tried there', async () => {
    gateway.fakes.instead.set('listTokensByCollection', async (request: { token_id: string }) => {
      if (request.token_id !== 'a/b') throw new RpcError(status.INVALID_ARGUMENT, 'not a key of this list');
      return { tokens: [], pagination: { next_key: '', previous_key: '', total: '1' } };
    });
    const path = `${nft}/tokens/by_collection/0x${key}?pagination.key=k&token_id`;
    assert.equal((await gateway.get(`${path}=a%252Fb`)).json().pagination.total, '1');
    assert.equal((await gateway.get(`${path}=x`)).status, 400);
  });

  it('addresses are asked in one spelling, and other words than two are no order', async () => {
    for (const address of [`0x${key.toUpperCase()}`, toBech32(key, 'init')]) {
      const path = `${nft}/tokens/by_account/${address}?collection_addr=${address}`;
      assert.equal((await gateway.get(path)).status, 200);
    }
    for (const request of requests('listTokensByAccount'))
      assert.deepEqual([request['account'], request['collection_addr']], [`0x${key}`, `0x${key}`]);
    for (const order of ['HEIGHT', 'owner'])
      assert.equal((await gateway.get(`${nft}/tokens/by_account/0x1?order_by=${order}`)).status, 400, order);
  });
});

describe('gateway: cached answers about NFTs', () => {
  it('are old as soon as a name is learnt', async () => {
    const gateway = await startTestGateway();
    const calls = () => gateway.fakes.calls.filter(({ method }) => method === 'listCollections').length;
    try {
      await gateway.get(`${nft}/collections`);
      await gateway.get(`${nft}/collections`);
      assert.equal(calls(), 1);
      const { epoch } = gateway.heads.current.nft;
      gateway.fakes.sayNftHead({ revision: 1 });
      await until(() => gateway.heads.current.nft.epoch !== epoch);
      await gateway.get(`${nft}/collections`);
      assert.equal(calls(), 2);
    } finally {
      await gateway.stop();
    }
  });
});
