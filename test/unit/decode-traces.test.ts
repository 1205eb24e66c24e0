import assert from 'node:assert/strict';
import { decodeTraces as framesOf } from '../../services/tx/decode/traces.js';

const HASH = `0x${'Ab'.repeat(32)}`;
const FROM = `0x${'1'.repeat(40)}`;
const TO = `0x${'2'.repeat(40)}`;

const traces = (...results: unknown[]) => JSON.stringify(results.map((result) => ({ txHash: HASH, result })));

const decodeTraces = (...args: Parameters<typeof framesOf>) => [...framesOf(...args)];

describe('decodeTraces', () => {
  it('numbers frames in pre-order and names the caller of each', () => {
    const call = (type: string, ...calls: unknown[]) => ({ type, from: FROM, to: TO, calls });
    const tree = call('a', call('b', call('c'), call('d')), call('e', call('f')), call('g'));
    const frames = decodeTraces(3, traces(tree, call('h')));
    const shown = frames.map(({ body, index, parent_index }) => [JSON.parse(body).type, index, parent_index]);
    assert.deepEqual(shown, [
      ['a', 0, -1],
      ['b', 1, 0],
      ['c', 2, 1],
      ['d', 3, 1],
      ['e', 4, 0],
      ['f', 5, 4],
      ['g', 6, 0],
      ['h', 0, -1],
    ]);
  });

  it('shows every member, the absent ones by their defaults, numbers as the node spells them', () => {
    const members = {
      type: 'CALL',
      from: FROM,
      to: FROM,
      input: '0x01',
      output: '0x02',
      value: '0x0',
      gas: '0x5',
      gasUsed: '0x4',
    };
    const create = { type: 'CREATE', from: TO, gas: '0x1', gasUsed: '0x1', to: null };
    const calls = traces({ ...members, error: 'execution reverted' }, create);
    const [full, bare] = decodeTraces(12, calls);
    const place = { height: 12, hash: HASH.toLowerCase(), parent_index: -1, index: 0 };
    assert.deepEqual(JSON.parse(full?.body ?? ''), { ...place, ...members });
    assert.deepEqual([...(full?.accounts ?? [])], [[FROM.slice(2), true]]);
    const { to, input, output, value } = JSON.parse(bare?.body ?? '') as Record<string, string>;
    assert.deepEqual([to, input, output, value], ['', '0x', '0x', '0x']);
    assert.deepEqual([...(bare?.accounts ?? [])], [[TO.slice(2), true]]);
    assert.equal(full?.hash, HASH.slice(2).toLowerCase());
  });

  it('goes to any depth', () => {
    const depth = 20_000;
    const open = `{"type":"CALL","from":"${FROM}","to":"${TO}","calls":[`;
    const text = `[{"txHash":"${HASH}","result":${open.repeat(depth)}${']}'.repeat(depth)}}]`;
    const frames = decodeTraces(1, Buffer.from(text));
    assert.equal(frames.length, depth);
    assert.equal(frames.at(-1)?.parent_index, depth - 2);
  });

  it('leaves out what is no trace, and throws for what is no list', () => {
    const list = [null, 5, { txHash: HASH, error: 'timeout' }, { result: {} }, { txHash: '0x1', result: {} }];
    assert.deepEqual(decodeTraces(1, JSON.stringify(list)), []);
    const odd = { calls: [null, 7, { calls: 'x', from: 5, to: '0x1' }] };
    assert.deepEqual(
      decodeTraces(1, traces(odd)).map((frame) => frame.index),
      [0, 1],
    );
    assert.deepEqual(decodeTraces(1, '[]'), []);
    assert.throws(() => decodeTraces(1, '{}'));
    assert.throws(() => decodeTraces(1, '[{'));
  });
});
