import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { type Difference, differences } from '../support/differences.js';
import { readFacts } from '../support/facts.js';
import { type Asked, answerOf, type Block, type Page, readIncumbent, type Tx } from '../support/incumbent.js';
import {
  isFirstPage,
  isOnlyIn,
  isProblem,
  itemsOf,
  sameKeys,
  valuesOf,
  without,
  withQuery,
} from '../support/incumbent-reasons.js';
import { readChain } from '../support/recorded-chain.js';
import { recordedStack } from '../support/recorded-stack.js';
import { startBefore } from '../support/suite.js';

/** Paths that are compared elsewhere, and how many the recordings hold. */
const elsewhere: readonly (readonly [what: string, path: RegExp, count: number])[] = [
  ['NFT routes', /^\/indexer\/nft\//, 308],
  ['the OpenAPI document', /^\/swagger\//, 3],
];

const isAbsent = (value: unknown): boolean => value === undefined;
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isAt =
  (...places: string[]) =>
  (difference: Difference) =>
    places.includes(difference.at);

/** Why one value in an answer differs; each recognises its own difference and no other. */
const valueReasons: Readonly<Record<string, (difference: Difference, asked: Asked, ours: Page) => boolean>> =
  {
    'version and commit are our own': ({ at, theirs, ours }, { path }) =>
      path === '/status' && ['version', 'commit_hash'].includes(at) && isText(theirs) && isText(ours),
    'the incumbent saw EVM block 158': ({ at, theirs, ours }, { path, recording, facts, times }) =>
      recording === 'evm' &&
      ((path === '/status' &&
        /^(internal_tx_)?height$/.test(at) &&
        theirs === 158 &&
        ours === facts.height) ||
        (at === 'avg_block_time' && isAverageTo158(Number(theirs), Number(ours), times))),
    'the rich list is as far as the blocks, and 0 where there is none': (
      { at, ours },
      { path, recording, facts },
    ) => path === '/status' && at === 'rich_list_height' && ours === (recording === 'evm' ? facts.height : 0),
    'no height of upkeep': ({ at, ours }, { path }) =>
      path === '/status' && at === 'evm_ret_cleanup_height' && isAbsent(ours),
    'internal_tx_height is there on every VM': ({ at, theirs, ours }, { recording }) =>
      recording !== 'evm' && at === 'internal_tx_height' && isAbsent(theirs) && ours === 0,
    'block times keep their nanoseconds': ({ at, theirs, ours }, { times }) =>
      isAt('block.timestamp', 'blocks.*.timestamp')({ at, theirs, ours }) &&
      [...times.values()].includes(String(ours)) &&
      theirs === String(ours).replace(/\.\d{1,9}Z$/, 'Z'),
    'the average is over nanoseconds, theirs over microseconds': ({ at, theirs, ours }, { recording }) =>
      recording !== 'evm' &&
      at === 'avg_block_time' &&
      Math.abs(Number(theirs) - Number(ours)) * 99 <= 1.001e-6,
    'an absent key is ""': ({ at, theirs, ours }, { query }) =>
      theirs === null &&
      ours === '' &&
      (at === 'pagination.next_key' || (at === 'pagination.previous_key' && isFirstPage(query))),
    'keys are our own': ({ at, theirs, ours }) =>
      at === 'pagination.next_key' && isText(theirs) && /^[A-Za-z0-9._~-]+$/.test(String(ours)),
    'keys of pages before are our own': ({ at, theirs, ours }, { query }) =>
      at === 'pagination.previous_key' &&
      isText(theirs) &&
      /^[A-Za-z0-9._~-]+$/.test(String(ours)) &&
      !isFirstPage(query),
    'no next_key on the last page': ({ at, theirs, ours }, { query }, page) =>
      at === 'pagination.next_key' &&
      isText(theirs) &&
      ours === '' &&
      Number(query.get('pagination.offset') ?? 0) + itemsOf(page).length === Number(page.pagination.total),
    'previous_key leads back': ({ at, theirs, ours }, { query }) =>
      at === 'pagination.previous_key' && theirs === null && isText(ours) && !isFirstPage(query),
    'NUL is kept': ({ theirs, ours }) =>
      typeof ours === 'string' &&
      ours.replaceAll('\0', '\ufffd').replaceAll('\\u0000', '\\uFFFD') === theirs &&
      /\0|\\u0000/.test(ours),
    'a receipt has the time of its block': ({ at, theirs, ours }, { path, times }) =>
      path.includes('/evm-txs') &&
      ['tx.timestamp', 'txs.*.timestamp'].includes(at) &&
      isAbsent(theirs) &&
      [...times.values()].includes(String(ours)),
    'hex as the node spells it': ({ at, theirs, ours }, { path }) =>
      path.includes('/evm-internal-txs') &&
      /^internal_txs\.\*\.(value|gas|gasUsed)$/.test(at) &&
      /^0x(0|[1-9a-f][0-9a-f]*)$/.test(String(ours)) &&
      theirs === `0x0${String(ours).slice(2)}`,
  };

/** Why a whole answer differs: nothing in it is left to compare. */
const answerReasons: Readonly<Record<string, (asked: Asked) => boolean | Promise<boolean>>> = {
  'errors are JSON': ({ theirs, ours }) =>
    theirs.json === undefined && theirs.status >= 400 && ours.status === theirs.status && isProblem(ours),
  'the proposer is found': ({ path, theirs, ours }) => {
    const { block, blocks } = (ours.json ?? {}) as { block?: Block; blocks?: Block[] };
    const shown = [block ?? [], blocks ?? []].flat();
    const isBlocks =
      path.startsWith('/indexer/block/v1/blocks') && theirs.status === 500 && ours.status === 200;
    return isBlocks && shown.length > 0 && shown.every((one) => isText(one.proposer.operator_address));
  },
  'by_account takes message types': async ({ path, query, theirs, ours, ask }) => {
    const type = query.get('msgs');
    if (!path.includes('/by_account/') || type === null || theirs.status !== 500) return false;
    const all = await ask(withQuery(path, { msgs: undefined, 'pagination.limit': '1000' }));
    const mine = (all['txs'] as Tx[]).filter(({ tx }) =>
      tx.body.messages.some((m) => m['@type'] === `/${type}`),
    );
    const { txs, pagination } = ours.json as Page;
    const limit = Number(query.get('pagination.limit') ?? 100);
    return isDeepStrictEqual(txs, mine.slice(0, limit)) && pagination.total === String(mine.length);
  },
  'a limit that is no number is refused': ({ query, theirs, ours }) =>
    query.get('pagination.limit') === 'abc' &&
    theirs.status === 200 &&
    ours.status === 400 &&
    isProblem(ours),
  'a rich list elsewhere is a 501': ({ recording, path, theirs, ours }) =>
    recording !== 'evm' &&
    path.startsWith('/indexer/richlist/') &&
    theirs.status === 200 &&
    ours.status === 501 &&
    isProblem(ours),
  'a denom that nobody knows is a 404': ({ recording, path, theirs, ours }) =>
    recording === 'evm' &&
    path === '/indexer/richlist/v1/nosuch' &&
    theirs.status === 400 &&
    ours.status === 404 &&
    isProblem(ours),
  'EVM routes elsewhere are a 501': ({ recording, path, theirs, ours }) =>
    recording !== 'evm' &&
    path.includes('/evm-') &&
    theirs.status === 404 &&
    ours.status === 501 &&
    isProblem(ours),
};

/** Why another answer of ours has to be compared with theirs: what it is, or undefined. */
const listReasons: Readonly<Record<string, (asked: Asked) => Promise<Page | undefined>>> = {
  'a key of theirs is refused, and the same page has a key of ours': async (asked) => {
    const { path, query, theirs, ours, recorded, ask } = asked;
    const key = query.get('pagination.key');
    const before = withQuery(path, { 'pagination.key': undefined });
    if (key === null || theirs.status !== 200 || ours.status !== 400 || !isProblem(ours)) return undefined;
    if ((recorded.get(before)?.json as Page | undefined)?.pagination.next_key !== key) return undefined;
    const { pagination } = await ask(before);
    return ask(withQuery(path, { 'pagination.key': pagination.next_key }));
  },
  'a message type that no tx has gives none': async ({ path, query, ours, ask, facts }) => {
    const types = query.getAll('msgs');
    const isKnown = types.some((type) => type.includes(',') || facts.msg_type_counts[type] !== undefined);
    if (types.length === 0 || isKnown || path.includes('/by_height/')) return undefined;
    const { txs, pagination } = ours.json as Page;
    const isNone = isDeepStrictEqual([txs, pagination.total], [[], '0']);
    return isNone ? ask(withQuery(path, { msgs: undefined })) : undefined;
  },
  'who holds nothing is no holder': async ({ path, theirs, ours }) => {
    if (!path.startsWith('/indexer/richlist/') || ours.status !== 200) return undefined;
    const isEmpty = (holder: unknown): boolean => (holder as { amount: string }).amount === '0';
    const [they, we] = [theirs.json as Page, ours.json as Page];
    const none = itemsOf(they).filter(isEmpty);
    if (none.length === 0 || itemsOf(we).some(isEmpty)) return undefined;
    const total = String(Number(we.pagination.total) + none.length);
    return { holders: [...itemsOf(we), ...none], pagination: { ...we.pagination, total } };
  },
  'message types separated by commas are several': async ({ path, query, ours, ask }) => {
    const types = query.get('msgs')?.split(',') ?? [];
    if (types.length < 2) return undefined;
    const plain = withQuery(path, { msgs: undefined });
    const repeated = await ask(plain + types.map((type) => `&msgs=${type}`).join(''));
    return isDeepStrictEqual(sameKeys(repeated), sameKeys(ours.json as Page)) ? ask(plain) : undefined;
  },
  'every signer counts, not the first only': async (asked) =>
    asked.query.get('is_signer') === 'true'
      ? without(asked, (tx, account) => {
          const signers = valuesOf(tx, 'tx', 'acc_seq').map((value) => value.split('/')[0]);
          return signers.includes(account) && signers[0] !== account;
        })
      : undefined,
  'an account in JSON quotes is named': (asked) =>
    without(
      asked,
      isOnlyIn((value, account) => value === JSON.stringify(account)),
    ),
  'an account after a comma and a space is named': (asked) =>
    without(
      asked,
      isOnlyIn((value, account) => value.endsWith(`, ${account}`)),
    ),
  'an account in a denom is named': (asked) =>
    without(
      asked,
      isOnlyIn((value, account) => value.includes(`factory/${account}/`)),
    ),
  'an account in a sentence is named': (asked) =>
    without(
      asked,
      isOnlyIn((value, account) => value.endsWith(` ${account}`) && !value.includes(',')),
    ),
};

/** Whether two averages over 100 blocks fit: ours up to 157, theirs up to a block that came a minute later. */
function isAverageTo158(theirs: number, ours: number, times: ReadonlyMap<number, string>): boolean {
  const at = (height: number): number => Date.parse(times.get(height) ?? '') / 1000;
  const last = theirs * 99 + at(59);
  return Math.abs(ours * 99 - (at(157) - at(58))) < 0.002 && Math.abs(last - at(157) - 60) < 1;
}

const used = new Set<string>();
let left_out: string[] = [];

/** Explains how two answers differ; returns what it cannot explain. */
async function unexplained(asked: Asked): Promise<string[]> {
  for (const [name, isWhy] of Object.entries(answerReasons)) {
    if (await isWhy(asked)) {
      used.add(name);
      return [];
    }
  }
  const direct = valueDifferences(asked, asked.ours.json as Page);
  if (asked.ours.status === asked.theirs.status && direct.length === 0) return [];
  for (const [name, insteadOf] of Object.entries(listReasons)) {
    const ours = await insteadOf(asked);
    if (ours === undefined || valueDifferences(asked, ours).length > 0) continue;
    used.add(name);
    return [];
  }
  return [`${asked.theirs.status} ${asked.ours.status}`, ...direct];
}

function valueDifferences(asked: Asked, ours: Page): string[] {
  const found = differences(asked.theirs.json, ours).map((difference) => {
    const reason = Object.entries(valueReasons).find(([, isWhy]) => isWhy(difference, asked, ours))?.[0];
    return { difference, reason };
  });
  const open = found.filter(({ reason }) => reason === undefined);
  if (open.length === 0) for (const { reason } of found) used.add(reason as string);
  return open.map(({ difference }) => JSON.stringify(difference).slice(0, 400));
}

for (const recording of ['evm', 'move', 'wasm'] as const) {
  describe(`what the incumbent answered about the ${recording} recording`, () => {
    const facts = readFacts(recording);
    const recorded = readIncumbent(recording);
    const isElsewhere = (path: string): boolean => elsewhere.some(([, pattern]) => pattern.test(path));
    const { times } = readChain(recording);
    const stack = startBefore(() => recordedStack(recording));
    left_out = [...left_out, ...[...recorded.keys()].filter(isElsewhere)];

    for (const [path, theirs] of recorded) {
      if (isElsewhere(path)) continue;
      it(`${path} is answered alike, or differs for a reason`, async () => {
        const answer = await fetch(stack.url + path);
        const ours = answerOf(answer.status, await answer.text());
        const query = new URLSearchParams(path.split('?')[1] ?? '');
        const ask = (other: string) => stack.get<Page>(other);
        const asked = { recording, path, query, theirs, ours, facts, times, recorded, ask };
        assert.deepEqual(await unexplained(asked), []);
      });
    }
  });
}

describe('the comparison with the incumbent', () => {
  it('needed every reason', () => {
    const all = [valueReasons, answerReasons, listReasons].flatMap((reasons) => Object.keys(reasons));
    assert.deepEqual(
      all.filter((name) => !used.has(name)),
      [],
    );
  });

  it('left out what is compared elsewhere, and nothing more', () => {
    for (const [what, pattern, count] of elsewhere)
      assert.equal(left_out.filter((path) => pattern.test(path)).length, count, what);
    const total = elsewhere.reduce((sum, [, , count]) => sum + count, 0);
    assert.equal(left_out.length, total);
  });
});
