import assert from 'node:assert/strict';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { readFacts, recordings, vmOf } from '../support/facts.js';
import { forEach } from '../support/few-at-a-time.js';
import { readChain } from '../support/recorded-chain.js';
import { type Json, type Schemas, schemasOf } from '../support/schemas.js';
import { type Stack, startStack } from '../support/stack.js';

/** What a recorded chain has to ask for. */
interface Chain {
  readonly heights: readonly number[];
  readonly hashes: readonly string[];
  readonly evmHashes: readonly string[];
  readonly accounts: readonly string[];
}

const tx = '/indexer/tx/v1';
const all = '?pagination.limit=1000';

/** URLs by the path of the document, so many that everything recorded is shown by one at least. */
function requestsFor({ heights, hashes, evmHashes, accounts }: Chain): Record<string, readonly string[]> {
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
  };
}

for (const name of recordings) {
  describe(`real answers over the ${name} recording and the OpenAPI document`, () => {
    const facts = readFacts(name);
    const isEvm = vmOf(name) === 'evm';
    const receipts = isEvm ? [...readChain(name).receipts.values()].flat() : [];
    const requests = requestsFor({
      heights: [...new Set(facts.txs.map((fact) => fact.height)), facts.height],
      hashes: facts.txs.map((fact) => fact.hash),
      evmHashes: isEvm ? receipts.map((receipt) => String(receipt['transactionHash'])) : ['0'.repeat(64)],
      accounts: ['0x1', ...facts.txs.slice(0, 30).flatMap((fact) => fact.signers)],
    });
    let node: ReplayNode;
    let stack: Stack;
    let doc: Json;
    let schemas: Schemas;
    before(async function start() {
      this.timeout(60_000);
      node = await startReplayNode({ recording: name });
      stack = await startStack(node, { vm: vmOf(name) });
      await stack.reaches(facts.height, isEvm);
      doc = await stack.get('/swagger/doc.json');
      schemas = schemasOf(doc);
    });
    after(async () => {
      await stack?.stop();
      await node?.close();
    });

    it('the requests reach every path of the document', () => {
      assert.deepEqual(Object.keys(doc.paths).sort(), Object.keys(requests).sort());
    });

    for (const [path, urls] of Object.entries(requests)) {
      it(`${path}: every answer fits`, async () => {
        const isMissing = path.includes('/evm-') && !isEvm;
        let items = 0;
        await forEach([...new Set(urls)], async (url) => {
          const answer = await stack.get<Json>(url, isMissing ? 501 : 200);
          schemas.check(isMissing ? 'common.ErrorResponse' : schemas.of(path), answer, url);
          items += (answer.txs ?? answer.internal_txs ?? answer.blocks ?? [answer]).length;
        });
        assert.ok(items > 0, 'no answer had anything in it');
        const { responses } = doc.paths[path].get;
        assert.ok(responses[isMissing ? 501 : 200], 'the document does not have this status');
      });
    }
  });
}
