import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { stringify } from 'yaml';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { loadPolicy } from '../../services/scoring-operator/policy/load.js';
import { parsePolicy, policyOf } from '../../services/scoring-operator/policy/parse.js';
import { type Policy, PolicyError } from '../../services/scoring-operator/policy/policy.js';
import { policySchemaFile } from '../../services/scoring-operator/policy/schema.js';

const options = { from: 'the policy', account_prefix: 'init' };
const parse = (text: string): Policy => parsePolicy(text, options);

/** The mistakes of a text, which must have some. */
function mistakesOf(text: string): readonly string[] {
  try {
    parse(text);
  } catch (error) {
    assert.ok(error instanceof PolicyError, String(error));
    return error.mistakes;
  }
  return assert.fail('the policy was taken');
}

/** What is wrong at which places of a text. */
const placesOf = (text: string) => mistakesOf(text).map((mistake) => mistake.split(':')[0]);

const head = 'version: 1\nname: p\n';
const rule = (fields: string): string => `${head}rules: [{name: r, ${fields}}]\n`;

const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

describe('a policy', () => {
  it('of the example is read with every rule, and with the numbers as they are written', async () => {
    const { policy, text } = await loadPolicy(join(packageRoot, 'examples/policy.yaml'), 'init');
    assert.match(text, /^# How/);
    assert.deepEqual(
      policy.rules.map(({ kind }) => kind),
      ['transactions', 'gas_used', 'calls', 'volume', 'holdings', 'nfts', 'source'],
    );
    const [, , calls, moved, held, art, quest] = policy.rules;
    assert.ok(calls?.kind === 'calls');
    assert.deepEqual(calls.contracts, ['e7f1725e7734ce288f8367e1bb143e90bb3f0512']);
    assert.deepEqual(calls.selectors, ['0xa9059cbb']);
    assert.deepEqual(moved?.weight, { numerator: 1n, denominator: 4n });
    assert.equal(held?.divisor.numerator, 10n ** 19n);
    assert.ok(art?.kind === 'nfts' && art.collection === 'cf7ed3acca5a467e9e704c703e8d87f634fb0fc9');
    assert.ok(quest?.kind === 'source' && quest.folder === join(packageRoot, 'examples'));
    assert.deepEqual([...policy.exclude], ['f39fd6e51aad88f6f4ce6ab8827279cfffb92266']);
    assert.equal(policy.cap, 1000n);
  });

  it('is the same in YAML and JSON, with and without quotes, and in any spelling of accounts', () => {
    const hashes = [
      `${head}rules:\n  - kind: holdings\n    name: r\n    denom: GAS\n    at: end\n    divisor: 1000000000000000000\n    weight: 0.1\nexclude: [0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266]\n`,
      `{"version":1,"name":"p","rules":[{"kind":"holdings","name":"r","denom":"GAS","at":"end","divisor":1000000000000000000,"weight":0.1}],"exclude":["init17w0adeg64ky0daxwd2ugyuneellmjgnxdtmpqz"]}`,
      `{"exclude":["0xF39FD6E51AAD88F6F4CE6AB8827279CFFFB92266"],"rules":[{"weight":"0.1","at":"end","divisor":"1000000000000000000","kind":"holdings","name":"r","denom":"GAS"}],"name":"p","version":1}`,
    ].map((text) => parse(text).hash);
    assert.equal(new Set(hashes).size, 1);
    assert.match(hashes[0] ?? '', /^[0-9a-f]{64}$/);
    assert.notEqual(parse(rule('kind: transactions')).hash, hashes[0]);
  });

  it('has every mistake named at once, with its path and value', () => {
    const places = placesOf(`version: 2
name: Bad Name
minimum: -1
colour: red
rules:
  - {kind: transactions, name: a, wieght: 2}
  - {kind: sneezes, name: b}
  - {name: c}
  - {kind: volume, name: d, denom: GAS, direction: up, weight: 1e3}
  - {kind: calls, name: e, selectors: [transfer]}
`);
    assert.deepEqual(places, [
      'colour is not known here',
      'version is 2',
      'name is "Bad Name"',
      'rules[0].wieght is not known here',
      'rules[1].kind is "sneezes"',
      'rules[2].kind is missing',
      'rules[3].weight is "1e3"',
      'rules[3].direction is "up"',
      'rules[4].selectors[0] is "transfer"',
      'minimum is -1',
    ]);
  });

  it('has mistakes named that only show when it is looked at as a whole', () => {
    const places = placesOf(`${head}minimum: 20
cap: 10
fit_total: 18446744073709551616
exclude: [init17w0adeg64ky0daxwd2ugyuneellmjgnxdtmpqq, 0x${'ab'.repeat(32)}]
rules:
  - {kind: calls, name: a}
  - {kind: source, name: a, file: a.csv, url: "http://x/a.csv"}
  - {kind: source, name: cap}
  - {kind: source, name: b, url: "https://u:secret@x/"}
  - {kind: transactions, name: c, weight: "0.0"}
`);
    assert.deepEqual(places, [
      'fit_total is 18446744073709551616',
      'minimum is 20',
      'rules[1].name is "a"',
      'rules[2].name is "cap"',
      'rules[0] needs contracts, selectors or both',
      'rules[1] needs either file or url',
      'rules[2] needs either file or url',
      'rules[3].url has a user or a password in it, which would be recorded',
      'rules[4].weight is "0.0"',
      'exclude[0] is "init17w0adeg64ky0daxwd2ugyuneellmjgnxdtmpqq"',
      'exclude[1] is "(64 hex digits or more, not shown as they may be a key)"',
    ]);
  });

  it('that was parsed elsewhere is refused where that has changed a number', () => {
    const taken = (cap: unknown, more: object = {}) =>
      policyOf(
        { version: 1, name: 'p', cap, rules: [{ kind: 'transactions', name: 'r', ...more }] },
        options,
      );
    const [text, number] = ['12345678901234567890', 12345678901234567890n];
    assert.throws(() => taken(Number(text)), /cap is 12345678901234567000: must be: .*as text/);
    assert.equal(taken(text).cap, number);
    assert.throws(() => taken(5, { weight: 0.1 }), /rules\[0\]\.weight is 0\.1/);
  });

  it('never shows what may be a key, wherever somebody has put it', () => {
    const key = 'c0ffee'.repeat(11).slice(0, 64);
    for (const secret of [key, `0x${key}`, key.toUpperCase(), words, `${'a'.repeat(90)} ${key}`])
      for (const text of [
        `version: 1\nname: n\nrules: [{ kind: "${secret}", name: a }]`,
        `version: 1\nname: "${secret}"\nrules: []\ncap: "${secret}"`,
        `version: 1\nname: n\nexclude: ["${secret}"]\nrules: [{ kind: transactions, name: a, weight: "${secret}" }]`,
        `version: 1\nname: n\n"${secret}": 1\nrules: [{ kind: transactions, name: a, "${secret}": 1 }]`,
        `version: 1\nname: n\nrules: [{ kind: transactions, name: a }\n${secret}`,
        `${secret}: [`,
        secret,
      ]) {
        const message = mistakesOf(text).join('\n');
        for (const part of [key.slice(0, 20), 'sausage worth'])
          assert.equal(message.toLowerCase().includes(part), false, `${text}: ${message}`);
      }
    assert.match(mistakesOf('version: 1\nname: n\nrules: [{ kind: luck, name: a }]').join('\n'), /"luck"/);
  });
  for (const [what, phrase] of Object.entries({
    right: words,
    misspelt: 'legal winner thank yearr wave sausage worth useful legal winer thank yellow',
  })) {
    it(`never shows the words of a mnemonic, however they are written (${what})`, () =>
      neverShows(phrase.split(' ')));
  }
  function neverShows(words: readonly string[]): void {
    const writings = [
      words.join('\n'),
      words.join('\r\n'),
      words.join('\n\n'),
      words.join('\\n'),
      words.join('\t'),
      words.join(', '),
      words.map((word) => `"${word}"`).join(' '),
      words.map((word) => `'${word}',`).join('\n'),
      words.map((word, index) => `${index + 1}. ${word}`).join('\n'),
      words.map((word) => `- ${word}`).join('\n'),
      words.join('\u00a0'),
      words.join(' ').toUpperCase(),
      JSON.stringify({ MNEMONIC: words }),
      words,
      [words],
      words.map((word) => ({ kind: word, name: word })),
      Object.fromEntries(words.map((word, index) => [index, word])),
    ];
    for (const secret of writings)
      for (const value of [
        { version: 1, name: secret, rules: [] },
        { version: 1, name: 'n', rules: secret },
        { version: 1, name: 'n', exclude: secret, rules: [{ kind: 'transactions', name: 'a' }] },
        { version: 1, name: 'n', exclude: [secret], rules: [{ kind: 'transactions', name: 'a' }] },
        { version: 1, name: 'n', rules: [{ kind: secret, name: 'a' }] },
        { version: 1, name: 'n', rules: [{ kind: 'calls', name: 'a', contracts: secret, weight: secret }] },
        secret,
      ]) {
        const text = JSON.stringify(value);
        for (const written of [text, stringify(value)]) {
          const message = mistakesOf(written).join('\n').toLowerCase();
          for (const word of ['sausage', 'winner', 'useful'])
            assert.equal(message.includes(word), false, `${written}: ${message}`);
        }
      }
  }
  it('shows words that are no mnemonic: what is wrong has to be seen', () => {
    const text = `${rule('kind: transactions')}exclude: [legal, winner]`;
    assert.match(mistakesOf(text).join('\n'), /"legal".*\n?.*"winner"/);
  });
  it('never shows a password', () => {
    for (const mistake of mistakesOf(rule('kind: source, url: "https://u:secret@x/"')))
      assert.doesNotMatch(mistake, /secret/);
  });

  it('is refused when a field is unknown, at every level', () => {
    const text = rule('kind: transactions');
    assert.equal(parse(text).rules.length, 1);
    assert.equal(mistakesOf(`${text}extra: 1`).length, 1);
    const schema = JSON.parse(readFileSync(policySchemaFile, 'utf8'));
    for (const kind of ['transactions', 'gas_used', 'calls', 'volume', 'holdings', 'nfts', 'source']) {
      const fields = Object.fromEntries(
        (schema.$defs[kind].required as string[]).map((name) => {
          const { $ref, enum: words } = schema.$defs[kind].properties[name];
          return [name, words?.[0] ?? ($ref?.endsWith('account') ? `0x${'1'.repeat(40)}` : 'r')];
        }),
      );
      const complete = {
        ...fields,
        kind,
        ...(kind === 'calls' ? { selectors: ['f()'] } : kind === 'source' ? { file: 'f' } : {}),
      };
      const policyWith = (more: object) =>
        JSON.stringify({ version: 1, name: 'p', rules: [{ ...complete, ...more }] });
      assert.equal(parse(policyWith({})).rules[0]?.kind, kind);
      assert.match(mistakesOf(policyWith({ extra: 1 }))[0] ?? '', /^rules\[0\]\.extra is not known here/);
    }
  });

  for (const [what, text] of [
    ['nothing', ''],
    ['a text', 'hello'],
    ['a list', '[]'],
    ['two documents', `${rule('kind: transactions')}---\n${rule('kind: transactions')}`],
    ['a member twice', `${rule('kind: transactions')}name: q\n`],
    ['broken YAML', 'version: [1'],
    [
      'aliases that grow',
      `a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n`,
    ],
    ['a prototype', `${rule('kind: transactions')}__proto__: {polluted: 1}\n`],
    ['no rules', `${head}rules: []\n`],
    ['a file that is not there', undefined],
  ] as const) {
    it(`is refused as a policy error when it is ${what}`, async () => {
      if (text === undefined) await assert.rejects(loadPolicy('/nowhere/p.yaml', 'init'), PolicyError);
      else assert.ok(mistakesOf(text).length > 0);
      assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
    });
  }
});

describe('the schema of policies', () => {
  const schema = JSON.parse(readFileSync(policySchemaFile, 'utf8'));

  it('is valid JSON schema of draft 2020-12', () => {
    assert.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema');
    const ajv = new Ajv2020({ discriminator: true });
    assert.equal(ajv.validateSchema(schema), true, ajv.errorsText());
  });

  it('says of every field what it means', () => {
    const undocumented: string[] = [];
    const visit = (node: Record<string, unknown>, path: string): void => {
      for (const [name, value] of Object.entries((node['properties'] ?? {}) as Record<string, never>)) {
        const field = value as { description?: string; $ref?: string };
        const target = field.$ref === undefined ? field : schema.$defs[field.$ref.split('/').at(-1) ?? ''];
        if ((field.description ?? target.description ?? '') === '') undocumented.push(`${path}.${name}`);
      }
    };
    visit(schema, '');
    for (const [name, definition] of Object.entries(schema.$defs)) visit(definition as never, name);
    assert.deepEqual(undocumented, []);
  });
});
