import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import dns from 'node:dns';
import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { parseCsv } from '../../services/scoring-operator/policy/csv.js';
import { ScoringError, type SourceRule } from '../../services/scoring-operator/policy/policy.js';
import {
  isMetadataHost,
  lookupElsewhere,
  readSource,
  SourceUnavailable,
  sourceDoubt,
} from '../../services/scoring-operator/policy/source.js';
import { temporaryFolder } from '../support/folder.js';
import { type HttpServer, serveHttp } from '../support/http-server.js';
import { policyWith } from '../support/scoring-model.js';

const bech = 'init17w0adeg64ky0daxwd2ugyuneellmjgnxdtmpqz';
const key = 'f39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const other = 'ab'.repeat(20);

describe('lines of address and score', () => {
  const values = (text: string, duplicates: 'refuse' | 'sum' = 'refuse') => {
    const { measure, mistakes } = parseCsv(text, duplicates, 'init');
    assert.equal(mistakes, undefined);
    return Object.fromEntries(measure?.values ?? []);
  };
  const mistakes = (text: string) => parseCsv(text, 'refuse', 'init').mistakes;

  it('may have a header, comments, empty lines, CR LF, spaces, a byte order mark and no last line end', () => {
    assert.deepEqual(
      values(
        `\uFEFFAddress, Score\r\n# hello\r\n\r\n ${bech} , 5 \r\n0x${other.toUpperCase()},${10n ** 40n}`,
      ),
      { [key]: 5n, [other]: 10n ** 40n },
    );
    assert.deepEqual(values(''), {});
    assert.deepEqual(values(`${bech},0\n`), {});
  });

  it('of one account in two spellings are refused or added up', () => {
    const text = `${bech},5\n0x${key},6\n`;
    assert.deepEqual(mistakes(text), ['line 2: the same account as in line 1']);
    assert.deepEqual(values(text, 'sum'), { [key]: 11n });
  });

  it('that are wrong are all named', () => {
    assert.deepEqual(
      mistakes(`address,score\nnobody,1\n${bech},-1\n${bech},1.5\n${bech}\n${bech},1,2\naddress,score`),
      [
        'line 2: not an address: neither bech32 with the prefix init nor 0x and hex digits',
        'line 3: the score is not a whole number',
        'line 4: the score is not a whole number',
        'line 5: 1 values instead of address,score',
        'line 6: 3 values instead of address,score',
        'line 7: not an address: neither bech32 with the prefix init nor 0x and hex digits',
      ],
    );
    const many = mistakes('x,1\n'.repeat(100));
    assert.deepEqual([many?.length, many?.at(-1)], [21, 'and 80 more mistakes']);
    assert.deepEqual(mistakes(`${','.repeat(1_000)}\n`), ['line 1: 10 values instead of address,score']);
  });

  it('that are no lists at all are not read to their end', () => {
    const many = mistakes('x\n'.repeat(4_000_000));
    assert.deepEqual([many?.length, many?.at(-1)], [21, 'and at least 980 more mistakes']);
  });

  it('that lack a digit, or have another one than their checksum says, are no addresses', () => {
    const checked = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
    assert.deepEqual(values(`${checked},1`), { [key]: 1n });
    for (const [text, mistake] of [
      [checked.slice(0, -1), '39 hex digits, and an account has 40'],
      [`${checked}0`, '41 hex digits, and an account has 40'],
      ['0x1', '1 hex digits, and an account has 40'],
      [
        checked.replace('f39F', 'f38F'),
        'its checksum is wrong: a digit, or the case of a letter, is another one',
      ],
      [bech.slice(0, -1), 'neither bech32 with the prefix init nor 0x and hex digits'],
    ] as const)
      assert.deepEqual(mistakes(`${text},1`), [`line 1: not an address: ${mistake}`]);
  });

  it('that are something else are not shown: they may be a secret', () => {
    const secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
    const said = JSON.stringify(mistakes(`{"AccessKeyId":"AKIA"\n${secret},${secret}\n${bech},${secret}\n`));
    for (let at = 0; at + 4 <= secret.length; at++) assert.ok(!said.includes(secret.slice(at, at + 4)));
    assert.ok(!said.includes('AKIA'));
  });

  it('of accounts of 32 bytes are counted', () => {
    const { measure } = parseCsv(`0x${'ab'.repeat(32)},5\n${bech},1`, 'refuse', 'init');
    assert.deepEqual([measure?.left_out, measure?.values.size], [1, 1]);
  });
});

describe('a source', () => {
  const text = `${bech},5\n`;
  const sha256 = createHash('sha256').update(text).digest('hex');
  const signal = new AbortController().signal;
  const folder = temporaryFolder('source');
  let answer: RequestListener;
  let server: HttpServer;
  let url: string;
  before(async () => {
    writeFileSync(join(folder, 'scores.csv'), text);
    writeFileSync(join(folder, 'latin.csv'), Buffer.from([0x80, 0xff]));
    server = await serveHttp((request, response) => answer(request, response));
    url = `${server.url}/scores.csv`;
  });
  after(() => server.close());

  const rule = (fields: object): SourceRule =>
    policyWith([{ kind: 'source', name: 'r', ...fields }], {}, folder).rules[0] as SourceRule;
  const read = (fields: object) => readSource(rule(fields), 'init', signal);
  const isError = (kind: new (...args: never[]) => Error, message: RegExp) => (error: unknown) =>
    error instanceof kind && message.test(error.message);

  it('is read from a file beside the policy, with a proof of what was read', async () => {
    const { values, source } = await read({ file: 'scores.csv', sha256: sha256.toUpperCase() });
    assert.deepEqual(Object.fromEntries(values), { [key]: 5n });
    assert.deepEqual(source, { location: 'scores.csv', sha256, bytes: text.length, etag: '' });
  });

  it('is read from a URL, with its ETag', async () => {
    answer = (_, response) => response.setHeader('etag', '"v1"').end(text);
    const { source } = await read({ url, sha256, max_bytes: text.length });
    assert.deepEqual(source, { location: url, sha256, bytes: text.length, etag: '"v1"' });
  });

  for (const [what, fields, message] of [
    [
      'of another checksum',
      { file: 'scores.csv', sha256: '0'.repeat(64) },
      /SHA-256 is [0-9a-f]{64}, and the policy/,
    ],
    ['that is too large', { file: 'scores.csv', max_bytes: text.length - 1 }, /larger than max_bytes/],
    ['that is not there', { file: 'nowhere.csv' }, /ENOENT/],
    ['that is a folder', { file: '.' }, /EISDIR/],
    ['that is not UTF-8', { file: 'latin.csv' }, /not UTF-8/],
  ] as const) {
    it(`${what} is refused for good`, async () => {
      await assert.rejects(read(fields), isError(ScoringError, message));
    });
  }

  it('of a URL that is too large is refused before it is read to its end', async () => {
    answer = (_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
    await assert.rejects(read({ url, max_bytes: 1_000_000 }), ScoringError);
  });

  for (const [what, listener, message] of [
    ['answers with an error', (_, response) => response.writeHead(503).end('no'), /answers 503/],
    ['sends elsewhere', (_, response) => response.writeHead(302, { location: '/' }).end(), /answers 302/],
    ['is silent', () => {}, /no whole answer within 300 ms/],
    ['stops in the middle', (_, response) => response.writeHead(200).write('address'), /within 300 ms/],
    [
      'breaks off',
      (_, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('x');
        setTimeout(() => response.destroy(), 20);
      },
      /the source r/,
    ],
  ] as readonly (readonly [string, RequestListener, RegExp])[]) {
    it(`that ${what} may answer another time`, async () => {
      answer = listener;
      await assert.rejects(read({ url, timeout_ms: 300 }), isError(SourceUnavailable, message));
    });
  }

  for (const host of [
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '[fe80::1]',
    '[::ffff:169.254.169.254]',
    '[fd00:ec2::254]',
    '[fd00:ec2::23]',
    '[64:ff9b::169.254.169.254]',
    '[64:ff9b:1::100.100.100.200]',
    '[::a9fe:a9fe]',
    '[::ffff:0:a9fe:a9fe]',
    '[2002:a9fe:a9fe::]',
    '[2002:6464:64c8:1::1]',
    '[2001:0:a9fe:a9fe::]',
    '[2001::5601:5601]',
    '168.63.129.16',
    'metadata.google.internal',
  ])
    it(`at ${host} is never asked`, async () => {
      const isRefusal = isError(ScoringError, /link-local or the metadata service/);
      await assert.rejects(read({ url: `http://${host}/latest/meta-data` }), isRefusal);
    });
  it('at another address of IPv6 may be asked', () => {
    for (const host of ['[::1]', '[2002:102:304::1]', '[2001:db8::a9fe:a9fe]', '[64:ff9b::102:304]'])
      assert.equal(isMetadataHost(host), false, host);
  });
  it('of a name that leads to such an address is never asked', async () => {
    const refused = new Error('refused');
    const lookup = lookupElsewhere(() => refused);
    const found = (name: string, all: boolean) =>
      new Promise((resolve) => lookup(name, { all }, (error, address) => resolve(error ?? address)));
    assert.equal(await found('169.254.169.254', false), refused);
    assert.equal(await found('fe80::1%lo', true), refused);
    assert.equal(await found('127.0.0.1', false), '127.0.0.1');
    answer = (_, response) => response.end(text);
    const named = url.replace('127.0.0.1', 'localhost');
    assert.equal((await read({ url: named })).values.size, 1, 'other names are looked up');
  });
  it('of a name that leads to such an address is not asked of a proxy either', async () => {
    let asked = 0;
    const proxy = await serveHttp((_, response) => {
      asked += 1;
      response.end(text);
    });
    process.env['HTTP_PROXY'] = proxy.url;
    const { lookup } = dns.promises;
    dns.promises.lookup = (async (name: string) => {
      if (name === 'scores.test') return [{ address: '169.254.169.254', family: 4 }];
      throw new Error('ENOTFOUND');
    }) as unknown as typeof lookup;
    syncBuiltinESMExports();
    try {
      await assert.rejects(read({ url: 'http://scores.test/a.csv' }), /metadata service/);
      assert.equal(asked, 0);
      assert.equal((await read({ url: 'http://only-the-proxy-knows.test/a.csv' })).values.size, 1);
    } finally {
      delete process.env['HTTP_PROXY'];
      dns.promises.lookup = lookup;
      syncBuiltinESMExports();
      await proxy.close();
    }
  });
  it('over http: without a hash is said', () => {
    assert.match(sourceDoubt(rule({ url: 'http://example.com/a.csv' })) ?? '', /over http: without a sha256/);
    assert.equal(sourceDoubt(rule({ url: 'http://example.com/a.csv', sha256 })), undefined);
    assert.equal(sourceDoubt(rule({ url: 'https://example.com/a.csv' })), undefined);
    assert.equal(sourceDoubt(rule({ url })), undefined, 'this machine');
  });

  it('is given up when the reader is', async () => {
    answer = () => {};
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('enough')), 20);
    await assert.rejects(readSource(rule({ url }), 'init', controller.signal), /enough/);
  });
});
