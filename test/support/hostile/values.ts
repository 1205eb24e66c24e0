import assert from 'node:assert/strict';
import { forEach } from '../few-at-a-time.js';
import { plainBody, type RawAnswer } from '../raw-http.js';
import { sampled } from '../sample.js';
import type { ListAnswer } from '../walk.js';
import type { ErrorBody } from './check.js';
import { type ApiRoute, isGood, type ParameterKind, pathOf } from './routes.js';
import { ask, jsonOf, listsOf, type Subject } from './subject.js';
import { type HostileValue, hostileValues } from './texts.js';

/** Fails unless a value was taken or refused as it should be, and a refusal names what it is about. */
function checkVerdict(answer: RawAnswer, name: string, kind: ParameterKind, value: HostileValue): void {
  const about = `${name}=${value.raw.slice(0, 100)}: ${plainBody(answer).toString('utf8', 0, 300)}`;
  if (value.text !== undefined && isGood(kind, value.text)) {
    // What is well-formed may still name something that is not there.
    const isItem = ['hash', 'height', 'collection', 'denom'].includes(kind);
    assert.ok(answer.status === 200 || (answer.status === 404 && isItem), about);
    return;
  }
  assert.equal(answer.status, 400, about);
  const { message } = jsonOf<ErrorBody>(answer);
  assert.ok(message.includes(name), about);
  const shown = (value.text ?? value.raw).slice(0, 60);
  assert.ok(message.includes(shown) || message.includes(JSON.stringify(shown).slice(1, -1)), about);
  assert.ok(message.length < 4_000, `a message of ${message.length} characters`);
}

/**
 * The values for one parameter: all of them where every kind of parameter is together, and
 * elsewhere, since the kinds are the same, another sixth for each parameter.
 */
const valuesFor = (route: ApiRoute, position: number): readonly HostileValue[] =>
  route.query['is_signer'] && route.query['msgs']
    ? hostileValues
    : hostileValues.filter((_, i) => (i + position) % 6 === 0);

/** Hostile values for every parameter of every route. */
export function describeHostileValues(routes: readonly ApiRoute[], subject: () => Subject): void {
  for (const route of routes) {
    const { in_path } = route;
    if (in_path === undefined) continue;
    it(`${route.path} takes a right ${in_path.kind} and names a wrong one`, () =>
      // Any text is a right one, so each is looked for in the tables.
      forEach(in_path.kind === 'text' ? sampled(hostileValues, 25) : hostileValues, async (value) => {
        const answer = await ask(subject(), pathOf(route, value.raw));
        checkVerdict(answer, in_path.name, in_path.kind, value);
      }));
  }

  for (const route of routes.filter(({ query }) => Object.keys(query).length > 0)) {
    it(`${route.path} takes right query parameters and names a wrong one`, async () => {
      for (const [position, [name, kind]] of Object.entries(route.query).entries()) {
        const rest = kind === 'limit' ? '' : '&pagination.limit=1';
        await forEach(valuesFor(route, position), async (value) => {
          const answer = await ask(subject(), `${pathOf(route)}?${name}=${value.raw}${rest}`);
          checkVerdict(answer, name, kind, value);
        });
      }
    }).timeout(40_000);
  }

  it('finds nothing for a hostile message type, and never everything', async () => {
    for (const route of routes.filter(({ query }) => query['msgs'] !== undefined)) {
      const path = pathOf(route);
      const all = jsonOf<ListAnswer>(await ask(subject(), `${path}?pagination.limit=1`)).pagination.total;
      assert.notEqual(all, '0');
      await forEach(hostileValues, async ({ raw, text }) => {
        if (text === undefined) return;
        const isFilter = text.split(',').some((type) => type.trim().replace(/^\/+/, '') !== '');
        const answer = await ask(subject(), `${path}?msgs=${raw}&pagination.limit=1`);
        const { total } = jsonOf<ListAnswer>(answer).pagination;
        assert.equal(total, isFilter ? '0' : all, `msgs=${raw.slice(0, 80)}`);
      });
    }
  });

  it('ignores unknown parameters, however they are written', async () => {
    const queries = [
      'limit=10',
      'foo',
      '=',
      '&&&',
      '%zz=1',
      '%00=%00',
      'pagination=1',
      'pagination%5Blimit%5D=0',
    ];
    await forEach(routes, async (route) => {
      const plain = plainBody(await ask(subject(), pathOf(route)));
      for (const query of [...queries, '__proto__=1', 'PAGINATION.LIMIT=0', 'constructor=1']) {
        assert.deepEqual(plainBody(await ask(subject(), `${pathOf(route)}?${query}`)), plain, query);
      }
    });
  });

  it('reads names and values percent-encoded, and repeated ones without failing', async () => {
    const path = '/indexer/tx/v1/txs';
    const one = jsonOf(await ask(subject(), `${path}?pagination.limit=1`));
    assert.deepEqual(jsonOf(await ask(subject(), `${path}?%70agination%2Elimit=%31`)), one);
    const many = Array.from({ length: 500 }, () => 'pagination.limit=1').join('&');
    assert.deepEqual(jsonOf(await ask(subject(), `${path}?${many}`)), one);
    await ask(subject(), `${path}?pagination.limit=abc&pagination.limit=1`);
    await ask(subject(), `${path}?pagination.limit=1&pagination.limit=abc&pagination.key=&pagination.key=x`);
    const types = Array.from({ length: 400 }, (_, i) => `msgs=a.b.v${i}.MsgNone`).join('&');
    assert.deepEqual(jsonOf<{ txs: unknown[] }>(await ask(subject(), `${path}?${types}`)).txs, []);
  });

  it('takes every height from 1 to 2^63 - 1', async () => {
    const { height } = subject();
    const beyond = [BigInt(height) + 1n, 2n ** 31n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n];
    for (const far of [...beyond, 2n ** 63n - 1n]) {
      assert.equal((await ask(subject(), `/indexer/block/v1/blocks/${far}`)).status, 404);
      for (const route of listsOf(routes).filter(({ in_path }) => in_path?.kind === 'height')) {
        const json = jsonOf(await ask(subject(), pathOf(route, String(far))));
        const pagination = { next_key: '', previous_key: '', total: '0' };
        assert.deepEqual(json, { [route.list]: [], pagination });
      }
    }
    for (const wrong of ['0', '-1', String(2n ** 63n), String(2n ** 64n), String(2n ** 256n)]) {
      for (const route of routes.filter(({ in_path }) => in_path?.kind === 'height'))
        assert.equal((await ask(subject(), pathOf(route, wrong))).status, 400);
    }
  });

  it('takes hashes of 64 digits only', async () => {
    for (const route of routes.filter(({ in_path }) => in_path?.kind === 'hash')) {
      const good = (route.in_path?.good ?? '').replace(/^0x/, '');
      const wrong = [good.slice(1), `${good}0`, `0x${good}00`, good.slice(0, 40), `x${good}`, `0x0x${good}`];
      const right = [good, `0x${good}`, `0X${good.toUpperCase()}`, good.toLowerCase()];
      const unknown = ['0'.repeat(64), 'f'.repeat(64), `0X${'F'.repeat(64)}`];
      for (const [status, spellings] of [
        [400, wrong] as const,
        [200, right] as const,
        [404, unknown] as const,
      ])
        for (const hash of spellings)
          assert.equal((await ask(subject(), pathOf(route, hash))).status, status, hash);
    }
  });

  it('takes an account in every right spelling, and refuses a wrong checksum', async () => {
    const { account } = subject().known;
    const wrong = [
      account.slice(0, -1) + (account.endsWith('q') ? 'p' : 'q'),
      account.slice(0, -1),
      `${account}q`,
      account.replace('init1', 'inIt1'),
      account.replace('init', 'cosmos'),
      account.replace('init1', ''),
      `${account.slice(0, 20)}b${account.slice(21)}`,
      `${account},${account}`,
      `${account}%00`,
      `${account}%2F`,
    ];
    const digits = ['0', '1', 'f'.repeat(40), 'f'.repeat(41), 'f'.repeat(64), '0'.repeat(64)];
    for (const route of routes.filter(({ in_path }) => in_path?.kind === 'account')) {
      for (const spelling of wrong)
        assert.equal((await ask(subject(), pathOf(route, spelling))).status, 400, spelling);
      const all = plainBody(await ask(subject(), pathOf(route)));
      assert.deepEqual(plainBody(await ask(subject(), pathOf(route, account.toUpperCase()))), all);
      for (const hex of digits)
        assert.equal((await ask(subject(), pathOf(route, `0x${hex}`))).status, 200, hex);
    }
  });
}
