import assert from 'node:assert/strict';
import { readFacts, vmOf } from '../support/facts.js';
import { forEach } from '../support/few-at-a-time.js';
import { readNftTruth } from '../support/nft-facts.js';
import { readChain } from '../support/recorded-chain.js';
import { recordedStack } from '../support/recorded-stack.js';
import { chosen, sampled } from '../support/sample.js';
import { type Json, type Schemas, schemasOf } from '../support/schemas.js';
import type { Stack } from '../support/stack.js';

/** What a recorded chain has to ask for. */
interface Chain {
  readonly heights: readonly number[];
  readonly hashes: readonly string[];
  readonly evmHashes: readonly string[];
  readonly accounts: readonly string[];
  /** Addresses of collections, and tokens by collection and id, burnt ones too. */
  readonly collections: readonly string[];
  readonly tokens: readonly (readonly [collection: string, token_id: string])[];
  readonly names: readonly string[];
  readonly denoms: readonly string[];
}

const [tx, nft] = ['/indexer/tx/v1', '/indexer/nft/v1'];
const all = '?pagination.limit=1000';

/** URLs by the path of the document, so many that everything recorded is shown by one at least. */
function requestsFor({
  heights,
  hashes,
  evmHashes,
  accounts,
  ...chain
}: Chain): Record<string, readonly string[]> {
  const listsOf = (list: string): Record<string, readonly string[]> => ({
    [list]: [`${list}${all}`, `${list}?pagination.limit=3&pagination.offset=5&pagination.reverse=false`],
    [`${list}/by_account/{account}`]: accounts.flatMap((account) => [
      `${list}/by_account/${account}${all}`,
      `${list}/by_account/${account}${all}&is_signer=true`,
    ]),
    [`${list}/by_height/{height}`]: heights.map((height) => `${list}/by_height/${height}${all}`),
  });
  return {
    '/': ['/'],
    '/status': ['/status'],
    '/indexer/block/v1/avg_blocktime': ['/indexer/block/v1/avg_blocktime'],
    '/indexer/block/v1/blocks': [
      `/indexer/block/v1/blocks${all}`,
      '/indexer/block/v1/blocks?pagination.limit=2',
    ],
    '/indexer/block/v1/blocks/{height}': heights.map((height) => `/indexer/block/v1/blocks/${height}`),
    ...listsOf(`${tx}/txs`),
    [`${tx}/txs/{tx_hash}`]: hashes.map((hash) => `${tx}/txs/${hash}`),
    ...listsOf(`${tx}/evm-txs`),
    [`${tx}/evm-txs/{tx_hash}`]: evmHashes.map((hash) => `${tx}/evm-txs/${hash}`),
    ...listsOf(`${tx}/evm-internal-txs`),
    [`${tx}/evm-internal-txs/{tx_hash}`]: evmHashes.map((hash) => `${tx}/evm-internal-txs/${hash}${all}`),
    [`${nft}/collections`]: [`${nft}/collections${all}`, `${nft}/collections?pagination.limit=1`],
    [`${nft}/collections/by_account/{account}`]: accounts.map(
      (account) => `${nft}/collections/by_account/${account}${all}`,
    ),
    [`${nft}/collections/by_name/{name}`]: chain.names.map(
      (name) => `${nft}/collections/by_name/${encodeURIComponent(name)}${all}`,
    ),
    [`${nft}/collections/{collection_addr}`]: chain.collections.map((one) => `${nft}/collections/${one}`),
    [`${nft}/tokens/by_account/{account}`]: accounts.map(
      (account) => `${nft}/tokens/by_account/${account}${all}`,
    ),
    [`${nft}/tokens/by_collection/{collection_addr}`]: chain.collections.flatMap((one) => [
      `${nft}/tokens/by_collection/${one}${all}`,
      `${nft}/tokens/by_collection/${one}${all}&order_by=height`,
    ]),
    [`${nft}/txs/{collection_addr}/{token_id}`]: chain.tokens.map(
      ([one, id]) => `${nft}/txs/${one}/${encodeURIComponent(id)}${all}`,
    ),
    '/indexer/richlist/v1/{denom}': chain.denoms.map(
      (denom) => `/indexer/richlist/v1/${encodeURIComponent(denom)}${all}`,
    ),
  };
}

/** The list of an answer; the answer itself where it has none. */
const itemsOf = (answer: Json): readonly unknown[] =>
  Object.values(answer).find((member): member is readonly unknown[] => Array.isArray(member)) ?? [answer];

for (const name of chosen('evm', 'wasm-hostile')) {
  describe(`real answers over the ${name} recording and the OpenAPI document`, () => {
    const [facts, nfts] = [readFacts(name), readNftTruth(name)];
    const isEvm = vmOf(name) === 'evm';
    const receipts = isEvm ? [...readChain(name).receipts.values()].flat() : [];
    const requests = requestsFor({
      heights: [...new Set(facts.txs.map((fact) => fact.height)), facts.height],
      hashes: facts.txs.map((fact) => fact.hash),
      evmHashes: isEvm ? receipts.map((receipt) => String(receipt['transactionHash'])) : ['0'.repeat(64)],
      accounts: ['0x1', ...facts.txs.slice(0, 30).flatMap((fact) => fact.signers)],
      collections: nfts.collections.map(({ addr }) => addr),
      // A path cannot name a token whose id is empty; there is one on wasm-hostile.
      tokens: [...nfts.tokens, ...nfts.burnt]
        .map(({ addr, token_id }) => [addr, token_id] as const)
        .filter(([, token_id]) => token_id !== ''),
      names: nfts.collections.map((one) => one.name),
      denoms: isEvm ? Object.keys(facts.holders ?? {}) : ['umin'],
    });
    let stack: Stack;
    let doc: Json;
    let schemas: Schemas;
    before(async () => {
      stack = await recordedStack(name);
      doc = await stack.get('/swagger/doc.json');
      schemas = schemasOf(doc);
    });

    it('the requests reach every path of the document', () => {
      assert.deepEqual(Object.keys(doc.paths).sort(), Object.keys(requests).sort());
    });

    for (const [path, urls] of Object.entries(requests)) {
      it(`${path}: every answer fits`, async () => {
        const isMissing = /\/evm-|\/richlist\//.test(path) && !isEvm;
        let items = 0;
        await forEach(sampled([...new Set(urls)], 25), async (url) => {
          const answer = await stack.get<Json>(url, isMissing ? 501 : 200);
          schemas.check(isMissing ? 'common.ErrorResponse' : schemas.of(path), answer, url);
          items += isMissing ? 1 : itemsOf(answer).length;
        });
        assert.ok(items > 0, 'no answer had anything in it');
        const { responses } = doc.paths[path].get;
        assert.ok(responses[isMissing ? 501 : 200], 'the document does not have this status');
      });
    }
  });
}
