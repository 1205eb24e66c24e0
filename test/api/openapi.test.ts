import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { startTestGateway, type TestGateway } from '../support/gateway-client.js';
import { ajvOf, type Json, type Schemas, schemasOf } from '../support/schemas.js';

const hash = '5'.padStart(64, '0');
const evmHash = '0x44804c0d2d2d980aaec5200879abc924bb732e8e3855ece550023ff897f601dd';

const art = '0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9';

/** Requests to services that answer from memory; real-answers.test.ts has every path. */
const requests: readonly [path: string, url: string][] = [
  ['/', '/'],
  ['/status', '/status'],
  ['/indexer/block/v1/avg_blocktime', '/indexer/block/v1/avg_blocktime'],
  ['/indexer/block/v1/blocks', '/indexer/block/v1/blocks'],
  ['/indexer/block/v1/blocks', '/indexer/block/v1/blocks?pagination.limit=2&pagination.key=at-2'],
  ['/indexer/block/v1/blocks/{height}', '/indexer/block/v1/blocks/5'],
  ['/indexer/tx/v1/txs', '/indexer/tx/v1/txs'],
  ['/indexer/tx/v1/txs', '/indexer/tx/v1/txs?pagination.count_total=false&pagination.offset=5'],
  ['/indexer/tx/v1/txs/by_account/{account}', '/indexer/tx/v1/txs/by_account/0x1'],
  ['/indexer/tx/v1/txs/by_height/{height}', '/indexer/tx/v1/txs/by_height/5'],
  ['/indexer/tx/v1/txs/{tx_hash}', `/indexer/tx/v1/txs/${hash}`],
  ['/indexer/tx/v1/evm-txs', '/indexer/tx/v1/evm-txs'],
  ['/indexer/tx/v1/evm-txs/by_account/{account}', '/indexer/tx/v1/evm-txs/by_account/0x1'],
  ['/indexer/tx/v1/evm-txs/by_height/{height}', '/indexer/tx/v1/evm-txs/by_height/5'],
  ['/indexer/tx/v1/evm-txs/{tx_hash}', `/indexer/tx/v1/evm-txs/${evmHash}`],
  ['/indexer/tx/v1/evm-internal-txs', '/indexer/tx/v1/evm-internal-txs'],
  ['/indexer/tx/v1/evm-internal-txs/by_account/{account}', '/indexer/tx/v1/evm-internal-txs/by_account/0x1'],
  ['/indexer/tx/v1/evm-internal-txs/by_height/{height}', '/indexer/tx/v1/evm-internal-txs/by_height/5'],
  ['/indexer/tx/v1/evm-internal-txs/{tx_hash}', `/indexer/tx/v1/evm-internal-txs/${evmHash}`],
  ['/indexer/nft/v1/collections', '/indexer/nft/v1/collections'],
  ['/indexer/nft/v1/collections/by_account/{account}', '/indexer/nft/v1/collections/by_account/0x1'],
  ['/indexer/nft/v1/collections/by_name/{name}', '/indexer/nft/v1/collections/by_name/art'],
  ['/indexer/nft/v1/collections/by_name/{name}', '/indexer/nft/v1/collections/by_name/nobody'],
  ['/indexer/nft/v1/collections/{collection_addr}', `/indexer/nft/v1/collections/${art}`],
  ['/indexer/nft/v1/tokens/by_account/{account}', '/indexer/nft/v1/tokens/by_account/0x1?order_by=height'],
  ['/indexer/nft/v1/tokens/by_collection/{collection_addr}', `/indexer/nft/v1/tokens/by_collection/${art}`],
  ['/indexer/nft/v1/txs/{collection_addr}/{token_id}', `/indexer/nft/v1/txs/${art}/4`],
  ['/indexer/nft/v1/txs/{collection_addr}/{token_id}', `/indexer/nft/v1/txs/${art}/none`],
  ['/indexer/richlist/v1/{denom}', '/indexer/richlist/v1/ibc%2FAB?pagination.limit=2'],
];

/** Every object inside a value. */
function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const inner of Object.values(value)) yield* objectsIn(inner);
}

const at = (doc: Json, pointer: string): Json =>
  pointer
    .slice(2)
    .split('/')
    .reduce((value, part) => value?.[part.replaceAll('~1', '/').replaceAll('~0', '~')], doc);

for (const absent of ['', 'null']) {
  describe(`the OpenAPI document, absent keys ${absent || 'empty'}`, () => {
    let gateway: TestGateway;
    let doc: Json;
    let schemas: Schemas;
    before(async () => {
      gateway = await startTestGateway({ PAGINATION_ABSENT_KEY: absent });
      doc = (await gateway.get('/swagger/doc.json')).json();
      schemas = schemasOf(doc);
    });
    after(() => gateway.stop());

    const check = (name: string, value: unknown): void => schemas.check(name, value);
    const schemaOf = (path: string): string => schemas.of(path);

    it('is OpenAPI 3.1 with the parts that it must have', () => {
      assert.equal(doc.openapi, '3.1.0');
      assert.ok(doc.info.title && doc.info.version);
      assert.deepEqual(doc.servers, [{ url: '/' }]);
      const names = doc.tags.map((tag: Json) => tag.name);
      assert.equal(new Set(names).size, names.length);
      const ids = Object.values(doc.paths).map((item: Json) => item.get.operationId);
      assert.equal(new Set(ids).size, ids.length);
      for (const [path, item] of Object.entries<Json>(doc.paths)) {
        const { summary, description, tags, parameters, responses } = item.get;
        assert.ok(summary && description, path);
        assert.ok(names.includes(tags[0]), path);
        const inPath = parameters.filter((parameter: Json) => parameter.in === 'path');
        assert.deepEqual(
          inPath.map((parameter: Json) => `{${parameter.name}}`),
          path.match(/\{\w+\}/g) ?? [],
        );
        for (const parameter of parameters) {
          assert.ok(parameter.description && parameter.schema, `${path} ${parameter.name}`);
          assert.equal(parameter.required, parameter.in === 'path');
          if (parameter.example !== undefined) {
            const validate = schemas.ajv.compile(parameter.schema);
            assert.ok(validate(parameter.example), `${path} ${parameter.name}`);
          }
        }
        assert.ok(responses[200] && responses[503] && responses[504]);
        assert.equal(responses[400] !== undefined, parameters.length > 0, path);
      }
    });

    it('every reference leads somewhere, and every schema is used', () => {
      const refs = new Set<string>();
      for (const object of objectsIn(doc)) if (typeof object['$ref'] === 'string') refs.add(object['$ref']);
      for (const ref of refs) assert.ok(at(doc, ref), ref);
      for (const name of Object.keys(doc.components.schemas)) {
        assert.ok(refs.has(`#/components/schemas/${name}`), `${name} is not used`);
      }
    });

    it('has the names of the specification', () => {
      for (const name of [
        'status.StatusResponse',
        'block.BlockResponse',
        'block.BlocksResponse',
        'tx.TxResponse',
        'tx.TxsResponse',
        'nft.CollectionResponse',
        'nft.CollectionsResponse',
        'nft.NftsResponse',
        'common.PaginationResponse',
      ]) {
        assert.ok(doc.components.schemas[name], name);
      }
    });

    it('a height is a string for a block and an integer for its txs, as in the specification', () => {
      for (const [path, item] of Object.entries<Json>(doc.paths)) {
        const height = item.get.parameters.find((parameter: Json) => parameter.name === 'height');
        if (height === undefined) continue;
        assert.equal(height.schema.type, path.includes('/blocks/') ? 'string' : 'integer', path);
      }
    });

    it('every schema compiles strictly', () => {
      for (const name of Object.keys(doc.components.schemas)) schemas.validator(name);
    });

    it('every example fits its schema', () => {
      for (const path of Object.keys(doc.paths)) {
        const { example } = doc.paths[path].get.responses[200].content['application/json'];
        assert.ok(example, `${path} shows no example`);
        check(schemaOf(path), example);
      }
    });

    for (const [path, url] of requests) {
      it(`the answer to ${url} fits its schema`, async () => {
        const answer = await gateway.get(url);
        assert.equal(answer.status, 200, answer.body.toString());
        check(schemaOf(path), answer.json());
      });
    }

    for (const url of ['/nosuch', '/indexer/block/v1/blocks/0', '/indexer/block/v1/blocks/99']) {
      it(`the problem of ${url} fits its schema`, async () =>
        check('common.ErrorResponse', (await gateway.get(url)).json()));
    }

    it('a wrong answer does not fit', async () => {
      const wrong = (name: string, value: unknown) =>
        assert.equal(schemas.validator(name)(value), false, JSON.stringify(value));
      const status = (await gateway.get('/status')).json();
      wrong('status.StatusResponse', { ...status, height: '5' });
      wrong('status.StatusResponse', { ...status, more: 1 });
      wrong('status.StatusResponse', { ...status, rich_list_height: undefined });
      const { block } = (await gateway.get('/indexer/block/v1/blocks/5')).json();
      wrong('block.BlockResponse', { block: { ...block, height: 5 } });
      wrong('block.BlockResponse', { block: { ...block, proposer: null } });
      wrong('block.BlockResponse', { block: { ...block, timestamp: '2026-11-21T09:20:08+00:00' } });
      wrong('block.BlockResponse', { block: { ...block, total_fee: null } });
      const { tx } = (await gateway.get(`/indexer/tx/v1/txs/${hash}`)).json();
      wrong('tx.TxResponse', { tx: null });
      wrong('tx.TxResponse', { tx: { ...tx, code: '0' } });
      wrong('tx.TxResponse', { tx: { ...tx, txhash: hash.replace('5', 'a') } });
      wrong('tx.TxResponse', {
        tx: { ...tx, events: [{ type: 'a', attributes: [{ key: 'a', value: null }] }] },
      });
      const { collection } = (await gateway.get(`/indexer/nft/v1/collections/${art}`)).json();
      wrong('nft.CollectionResponse', { collection: { ...collection, object_addr: 'init1abc' } });
      wrong('nft.CollectionResponse', { collection: { ...collection, height: '17' } });
      const { tokens } = (await gateway.get('/indexer/nft/v1/tokens/by_account/0x1')).json();
      const pagination = { next_key: '', previous_key: '', total: '0' };
      wrong('nft.NftsResponse', { tokens: [{ ...tokens[0], object_addr: null }], pagination });
      wrong('nft.NftsResponse', { tokens: [{ ...tokens[0], nft: { token_id: '1' } }], pagination });
      wrong('tx.TxsResponse', { txs: null, pagination });
      wrong('tx.TxsResponse', { txs: [], pagination: { ...pagination, total: 0 } });
      wrong('tx.TxsResponse', { txs: [], pagination: { ...pagination, total: '-1' } });
      wrong('tx.TxsResponse', { txs: [], pagination: { next_key: '', total: '0' } });
      wrong('richlist.TokenHoldersResponse', { holders: [{ account: 'init1', amount: '1' }], pagination });
      wrong('richlist.TokenHoldersResponse', {
        holders: [{ account: `0x${'1'.repeat(40)}`, amount: 1 }],
        pagination,
      });
      const other = absent === 'null' ? 5 : null;
      wrong('common.PaginationResponse', { ...pagination, next_key: other });
    });
  });
}

describe('the OpenAPI document and recorded txs', () => {
  for (const vm of ['evm', 'move', 'wasm']) {
    it(`every tx that was recorded on ${vm} fits`, async () => {
      const gateway = await startTestGateway();
      const doc = (await gateway.get('/swagger/doc.json')).json();
      await gateway.stop();
      const ajv = ajvOf(doc);
      const validate = ajv.getSchema('doc#/components/schemas/tx.Tx');
      assert.ok(validate);
      const file = join(packageRoot, 'test/fixtures/recordings', vm, 'incumbent-answers.jsonl.gz');
      const lines = gunzipSync(readFileSync(file)).toString().trim().split('\n');
      let checked = 0;
      for (const line of lines) {
        const { path, status, body } = JSON.parse(line);
        if (status !== 200 || !/\/v1\/txs/.test(path)) continue;
        const answer = JSON.parse(body);
        for (const tx of answer.txs ?? [answer.tx]) {
          checked += 1;
          assert.ok(validate(tx), `${path} ${tx.txhash}: ${ajv.errorsText(validate.errors)}`);
        }
      }
      assert.ok(checked > 50, `only ${checked} txs were there`);
    });
  }
});
