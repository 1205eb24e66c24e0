import assert from 'node:assert/strict';
import { readDecodedTxs } from '../../services/common/chain/rest.js';
import { alignDecoded } from '../../services/common/chain/txraw.js';
import { nameScanner } from '../../services/tx/decode/names.js';
import { decodeTx, startNames } from '../../services/tx/decode/tx.js';
import type { DecodeOptions } from '../../services/tx/decode/types.js';

describe('a tx that nests values deep', () => {
  // Go takes 10,000 levels, which is more than a recursive reader has stack for.
  for (const depth of [9_900, 500_000])
    it(`is decoded like any other: ${depth} levels`, () => {
      const nested = '['.repeat(depth) + ']'.repeat(depth);
      const text = `{"body":{"messages":[{"@type":"/a.Msg","msg":${nested}}]},"signatures":["AAAA"]}`;
      const texts = readDecodedTxs(3, 200, `{"txs":[${text}]}`);
      // TxRaw with a signature of three zero bytes.
      const raw = Buffer.from('1a03000000', 'hex');
      assert.deepEqual(alignDecoded([raw], texts), [text]);
      const events = [{ type: 'wasm', attributes: [{ key: 'msg', value: nested }] }];
      const options: DecodeOptions = { vm: 'wasm', account_prefix: 'init' };
      const problems: string[] = [];
      const { tx } = decodeTx(
        {
          ...{ raw, decoded: Buffer.from(text), decoded_locally: false },
          result: Buffer.from(JSON.stringify({ code: 0, events })),
        },
        { height: 3, hash: '', parent_hash: '', timestamp: '' },
        options,
        nameScanner(options),
        startNames(),
        (problem) => problems.push(problem),
      );
      assert.deepEqual([tx.msgs, problems], [['a.Msg'], []]);
      assert.ok(tx.body.includes(text));
    });
});
