import assert from 'node:assert/strict';
import { type RecordingName, readFacts } from '../support/facts.js';
import { forEach } from '../support/few-at-a-time.js';
import { checkAnswer } from '../support/hostile/check.js';
import { fuzzRequests } from '../support/hostile/fuzz.js';
import { describeHostileKeys } from '../support/hostile/keys.js';
import { apiRoutes, type KnownItems, pathOf } from '../support/hostile/routes.js';
import { ask, jsonOf, listsOf, type Subject } from '../support/hostile/subject.js';
import { describeHostileValues } from '../support/hostile/values.js';
import { describeHostileWire } from '../support/hostile/wire.js';
import { sendRaw } from '../support/raw-http.js';
import { readChain } from '../support/recorded-chain.js';
import { recordedStack } from '../support/recorded-stack.js';
import { isThorough } from '../support/sample.js';
import { startBefore } from '../support/suite.js';
import type { ListAnswer } from '../support/walk.js';

/** Requests that the fuzzing sends, unless its time is over before. */
const fuzz = { requests: isThorough ? 2_000 : 400, time_ms: 15_000, seed: 20_261_121 };

/** Starts every service over a recording for the tests around; the subject is there when they run. */
function subjectOf(name: RecordingName, known: KnownItems): () => Subject {
  const { height } = readFacts(name);
  const stack = startBefore(() => recordedStack(name));
  return () => ({ url: stack.url, height, known });
}

describe('hostile requests', () => {
  const receipts = [...readChain('evm').receipts.values()].flat();
  const known: KnownItems = {
    height: '52',
    account: 'init183zvmhdk4yq0526cthffncpaztay9yau4q4236',
    tx_hash: readFacts('evm').txs[40]?.hash ?? '',
    evm_hash: String(receipts[30]?.['transactionHash']),
    collection: '0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9',
    token_id: '1',
    name: 'e',
    denom: 'GAS',
  };
  const routes = apiRoutes(known);
  const subject = subjectOf('evm', known);

  describeHostileValues(routes, subject);
  describe('page keys', () => describeHostileKeys(routes, subject));
  describe('on the wire', () => describeHostileWire(routes, subject));

  it('any mixture of all that is answered as it should be', async function fuzzing() {
    this.timeout(fuzz.time_ms * 3);
    const keys: string[] = [];
    for (const route of listsOf(routes)) {
      const { pagination } = jsonOf<ListAnswer>(await ask(subject(), `${pathOf(route)}?pagination.limit=1`));
      keys.push(pagination.next_key);
    }
    const end = Date.now() + fuzz.time_ms;
    const source = fuzzRequests(fuzz.seed, routes, keys);
    const requests = Array.from({ length: fuzz.requests }, () => source.next().value);
    let sent = 0;
    await forEach(requests, async (request) => {
      if (Date.now() > end) return;
      sent += 1;
      const number = requests.indexOf(request);
      const answer = await sendRaw(subject().url, request).catch((error: unknown) => {
        throw new Error(`request ${number}: ${error}`);
      });
      checkAnswer(answer, request.target);
    });
    assert.ok(sent > 300, `only ${sent} requests in ${fuzz.time_ms} ms`);
  });

  it('leaves the services as they were', async () => {
    const status = jsonOf<{ height: number }>(await ask(subject(), '/status'));
    assert.equal(status.height, subject().height);
  });
});

describe('hostile requests to a rollup without EVM', () => {
  const facts = readFacts('move');
  const known: KnownItems = {
    height: '22',
    account: 'init1vwaygemc9eywzcr50l5lw23r0nj860uwxmthy7',
    tx_hash: facts.txs[40]?.hash ?? '',
    evm_hash: `0x${'1'.repeat(64)}`,
    collection: '0xf3d952fa05195434ad7849f84ec7904d4a54d56ebc43e3490a228f199e304ab9',
    token_id: 'cat-3',
    name: 'a',
    denom: 'umin',
  };
  const routes = apiRoutes(known);
  const subject = subjectOf('move', known);

  it('EVM routes are a 501 for whatever is asked well, and everything else is there', () =>
    forEach(routes, async (route) => {
      const { status } = await ask(subject(), pathOf(route));
      assert.equal(status, route.only === 'evm' ? 501 : 200, route.path);
    }));

  it('accounts of 20 and 32 bytes are told apart, and leading zeros make no difference', async () => {
    const path = '/indexer/tx/v1/txs/by_account';
    const total = async (account: string): Promise<string> =>
      jsonOf<ListAnswer>(await ask(subject(), `${path}/${account}?pagination.limit=1`)).pagination.total;
    const one = await total('0x1');
    assert.notEqual(one, '0');
    for (const spelling of [`0x${'1'.padStart(40, '0')}`, `0x${'1'.padStart(64, '0')}`, '0X01', '0x000001'])
      assert.equal(await total(spelling), one, spelling);
    assert.equal(await total(`0x1${'0'.repeat(39)}`), '0');
    assert.equal(await total(`0x1${'0'.repeat(63)}`), '0');
  });
});
