import assert from 'node:assert/strict';
import { belowBase, decodeSegment, parseTarget, queryValues } from '../../services/gateway/http/target.js';

describe('gateway: request target', () => {
  const paths: readonly [string, string, string][] = [
    ['/', '/', ''],
    ['', '/', ''],
    ['//', '/', ''],
    ['/status', '/status', ''],
    ['/status/', '/status', ''],
    ['//indexer//tx///v1/txs//', '/indexer/tx/v1/txs', ''],
    ['/status?a=b', '/status', 'a=b'],
    ['/status/?a=b', '/status', 'a=b'],
    ['/status?a=/b//c/', '/status', 'a=/b//c/'],
    ['/status?a=b?c', '/status', 'a=b?c'],
    ['/status#x', '/status', ''],
    ['/status?a=1#x', '/status', 'a=1'],
    ['http://host:80/status?a=1', '/status', 'a=1'],
    ['http://host', '/', ''],
    ['HTTPS://user@host?x=1', '/', 'x=1'],
    ['/a%2F%2Fb/', '/a%2F%2Fb', ''],
    ['/a/../b', '/a/../b', ''],
    ['*', '/*', ''],
  ];
  for (const [raw, path, search] of paths) {
    it(`${JSON.stringify(raw)} is the path ${path}${search === '' ? '' : ` and the query ${search}`}`, () => {
      assert.deepEqual(parseTarget(raw), { path, search });
    });
  }

  it('a path is below a base path only at a slash', () => {
    assert.equal(belowBase('/x/status', '/x'), '/status');
    assert.equal(belowBase('/x', '/x'), '/');
    assert.equal(belowBase('/xy/status', '/x'), undefined);
    assert.equal(belowBase('/status', '/x'), undefined);
    assert.equal(belowBase('/status', ''), '/status');
  });

  it('a segment is decoded exactly once', () => {
    assert.equal(decodeSegment('name', 'a%2Fb'), 'a/b');
    assert.equal(decodeSegment('name', 'a%252Fb'), 'a%2Fb');
    assert.equal(decodeSegment('name', 'a+b'), 'a+b');
    assert.equal(decodeSegment('name', '%00'), '\0');
  });

  for (const bad of ['%', '%z1', '%1', '%ff', '%c3%28', '%ed%a0%80']) {
    it(`${bad} in a segment is refused by the parameter's name`, () => {
      assert.throws(() => decodeSegment('account', `x${bad}`), { code: 3, message: /account.*x%/ });
    });
  }

  it('query values are found by name, decoded, in order, and the rest is ignored', () => {
    const wanted = new Set(['a', 'pagination.key', 'empty', 'bare']);
    const values = queryValues(
      'a=1&b=%zz&a=2%2C3&&=x&pagination%2Ekey=k+k&empty=&bare&%zz=1&__proto__=1',
      wanted,
    );
    assert.deepEqual(
      [...values],
      [
        ['a', ['1', '2,3']],
        ['pagination.key', ['k k']],
        ['empty', ['']],
        ['bare', ['']],
      ],
    );
  });

  it('a wanted value that cannot be decoded is refused by its name', () => {
    assert.throws(() => queryValues('a=%zz', new Set(['a'])), { code: 3, message: /^a .*%zz/ });
  });
});
