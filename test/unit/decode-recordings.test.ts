import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { blockTotals } from '../../services/block/totals.js';
import { parseAccount, toBech32 } from '../../services/common/chain/address.js';
import { packageRoot } from '../../services/common/paths.js';
import { decodeBlock } from '../../services/tx/decode/block.js';
import { decodeTraces } from '../../services/tx/decode/traces.js';
import type { DecodedBlock, DecodedFrame } from '../../services/tx/decode/types.js';
import { recordedBlocks, recordedFacts } from '../support/material.js';

interface Facts {
  txs_total: number;
  txs_failed: number;
  evm_txs_total?: number;
  msg_type_counts: Record<string, number>;
  txs: FactTx[];
}

interface FactTx {
  height: number;
  index: number;
  hash: string;
  code: number;
  codespace: string;
  signers: string[];
  msgs: string[];
  gas_wanted: number;
  gas_used: number;
}

interface Body {
  txhash: string;
  height: string;
  code: number;
  codespace: string;
  gas_wanted: string;
  gas_used: string;
}

/**
 * How many txs name each account, and how many it signed. Where the recording's own figure is
 * lower, the difference is one tx each: a typed event whose value is a quoted string (dave, and the
 * second account of evm), a denom (alice), a comma and a space (bob), a sentence (erin), an
 * upper-case address (bob in wasm-hostile).
 */
const COUNTS: Record<string, Record<string, [named: number, signed: number]>> = {
  evm: {
    init17w0adeg64ky0daxwd2ugyuneellmjgnxdtmpqz: [57, 46],
    init1wzvhjux9rqfdcwspp37srdgwp5tac7wg9ql75y: [45, 23],
    init183zvmhdk4yq0526cthffncpaztay9yau4q4236: [42, 24],
    init1jrmehaht938cwqm9u7zestslzq0f8wgx7e50a4: [36, 20],
    init1zhf54t65ye7m047rv7pe4tm35q9zc6n97sn55x: [25, 8],
    init1n9j4qlg62k7vy62utzapd7ehmqvmpfxucure4u: [24, 8],
    init1jah2wspxuun92ndk2la9ga36h5xr5z4f2w2cgs: [23, 7],
    init1znw8n9jd5tqgkgmf3v7ne372xgvnmx245nfaw5: [23, 6],
    '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512': [41, 0],
  },
  move: lab([44, 44], [112, 77], [90, 66], [54, 38], [60, 44], [16, 4], [146, 2], { '0x1': [274, 0] }),
  wasm: lab([30, 28], [75, 65], [72, 52], [65, 54], [52, 38], [15, 3], [146, 2], { '0x1': [0, 0] }),
  'wasm-hostile': lab([30, 28], [79, 69], [75, 52], [72, 61], [55, 38], [15, 3], [146, 2], {}),
};

type Count = [named: number, signed: number];

function lab(
  operator: Count,
  alice: Count,
  bob: Count,
  carol: Count,
  dave: Count,
  erin: Count,
  frank: Count,
  others: Record<string, Count>,
): Record<string, Count> {
  return {
    init1tg0hjdqw46gy9sfqg568jzvx09fcv3datu00pv: operator,
    init1vwaygemc9eywzcr50l5lw23r0nj860uwxmthy7: alice,
    init13y4evpwj5dnwtd3909wagxg4x7rmq5k77vaje6: bob,
    init1nwdzlsetuadlxgpy9evvk8m296jr4cv4trcd5a: carol,
    init1pdltq0mvha49w8nhwx64wv8pxhwm73gms6a8jv: dave,
    init1jj2wn6pfkr0y9jak3k23gmqzy0s5z4z7822j6p: erin,
    init1fe8cs6zzxp52f38y6ztajs75m565qnx25zraf4: frank,
    ...others,
  };
}

function decodeRecording(recording: string): Map<number, DecodedBlock> {
  const vm = recording.replace('-hostile', '') as 'evm' | 'move' | 'wasm';
  const decoded = new Map<number, DecodedBlock>();
  for (const [height, block] of recordedBlocks(recording)) {
    decoded.set(height, decodeBlock(block, block.material, { vm, account_prefix: 'init' }));
  }
  return decoded;
}

for (const recording of ['evm', 'move', 'wasm', 'wasm-hostile']) {
  describe(`decodeBlock on the recording ${recording}`, () => {
    const facts = recordedFacts(recording) as Facts;
    let blocks = new Map<number, DecodedBlock>();
    before(() => {
      blocks = decodeRecording(recording);
    });

    it('agrees with the facts of every tx', () => {
      for (const fact of facts.txs) {
        const tx = blocks.get(fact.height)?.txs[fact.index];
        assert.ok(tx, `${fact.height}/${fact.index}`);
        const body = JSON.parse(tx.body) as Body;
        assert.equal(tx.hash, fact.hash.toLowerCase());
        assert.deepEqual(
          [body.txhash, body.height, body.code, body.codespace, body.gas_wanted, body.gas_used],
          [
            fact.hash,
            String(fact.height),
            fact.code,
            fact.codespace,
            String(fact.gas_wanted),
            String(fact.gas_used),
          ],
        );
        const signers = [...tx.accounts].filter(([, signer]) => signer).map(([key]) => toBech32(key, 'init'));
        assert.deepEqual(signers, fact.signers);
        assert.deepEqual([...tx.msgs].sort(), [...new Set(fact.msgs)].sort());
      }
    });

    it('has all txs, all message types and no problems', () => {
      const txs = [...blocks.values()].flatMap((block) => block.txs);
      const failed = txs.filter((tx) => (JSON.parse(tx.body) as Body).code !== 0);
      const counts: Record<string, number> = {};
      for (const type of txs.flatMap((tx) => tx.msgs)) counts[type] = (counts[type] ?? 0) + 1;
      assert.equal(txs.length, facts.txs_total);
      assert.equal(failed.length, facts.txs_failed);
      assert.deepEqual(counts, facts.msg_type_counts);
      const evmTxs = [...blocks.values()].flatMap((block) => block.evm_txs);
      assert.equal(evmTxs.length, facts.evm_txs_total ?? 0);
      assert.deepEqual(
        [...blocks.values()].flatMap((block) => block.problems),
        [],
      );
    });

    it('finds every tx that names an account or is signed by it', () => {
      const txs = [...blocks.values()].flatMap((block) => block.txs);
      for (const [account, expected] of Object.entries(COUNTS[recording] ?? {})) {
        const key = parseAccount(account, 'init') ?? '';
        const roles = txs.map((tx) => tx.accounts.get(key)).filter((role) => role !== undefined);
        assert.deepEqual([roles.length, roles.filter((signer) => signer).length], expected, account);
      }
    });

    // It halts on the hostile one for good: there is nothing to compare with.
    if (recording === 'wasm-hostile') return;
    it('answers as the incumbent does, but for the NUL that it cannot store', () => {
      const bodies = new Map<string, string>();
      for (const tx of [...blocks.values()].flatMap((block) => block.txs)) {
        bodies.set(tx.hash.toUpperCase(), tx.body);
      }
      let compared = 0;
      for (const answer of incumbentAnswers(recording)) {
        if (!answer.path.startsWith('/indexer/tx/v1/txs')) continue;
        const page = JSON.parse(answer.body) as { tx?: Body; txs?: Body[] };
        for (const theirs of page.txs ?? [page.tx]) {
          // The incumbent had one block more of the EVM chain than the recording.
          const ours = bodies.get(theirs?.txhash ?? '');
          if (!ours) continue;
          assert.deepEqual(JSON.parse(withoutNul(ours)), JSON.parse(withoutNul(JSON.stringify(theirs))));
          compared++;
        }
      }
      assert.ok(compared > 500, `${compared} compared`);
    });
  });
}

/** Both spellings of a NUL, as they stand in JSON text, become the incumbent's replacement. */
function withoutNul(text: string): string {
  return text.replace(/\\+u(?:0000|FFFD)/g, '\ufffd');
}

function incumbentAnswers(recording: string): { path: string; status: number; body: string }[] {
  const file = join(packageRoot, 'test/fixtures/recordings', recording, 'incumbent-answers.jsonl.gz');
  const lines = gunzipSync(readFileSync(file)).toString('utf8').trim().split('\n');
  return lines
    .map((line) => JSON.parse(line) as { path: string; status: number; body: string })
    .filter((answer) => answer.status === 200);
}

describe('evm txs of the recording', () => {
  it('are the receipts to the byte, with the timestamp of the block', () => {
    let seen = 0;
    for (const block of recordedBlocks('evm').values()) {
      const { evm_txs } = decodeBlock(block, block.material, { vm: 'evm', account_prefix: 'init' });
      for (const tx of evm_txs) {
        const { timestamp, ...receipt } = JSON.parse(tx.body) as Record<string, unknown>;
        assert.equal(timestamp, block.timestamp);
        assert.equal(receipt['transactionHash'], `0x${tx.hash}`);
        const text = tx.body.replace(`,"timestamp":"${block.timestamp}"}`, '}');
        assert.ok(block.material.receipts.toString('utf8').includes(text));
        assert.deepEqual(
          [...tx.accounts].filter(([, isFrom]) => isFrom).map(([key]) => `0x${key}`),
          [receipt['from']],
        );
        seen++;
      }
    }
    assert.equal(seen, 140);
  });

  it('belong to the right Cosmos tx: a failed call names its contract only in its receipt', () => {
    const blocks = recordedBlocks('evm');
    for (const [height, contract] of [
      [73, '59b670e9fa9d0a427751af201d676719a970857b'],
      [95, '67d269191c92caf3cd7723f116c85e6e9bf55933'],
    ] as const) {
      const block = blocks.get(height);
      assert.ok(block);
      const { txs } = decodeBlock(block, block.material, { vm: 'evm', account_prefix: 'init' });
      assert.equal(txs[0]?.accounts.get(contract), false, String(height));
    }
  });

  it('leave the receipt out where there is none: a failed bank send keeps to its events', () => {
    const block = recordedBlocks('evm').get(6);
    assert.ok(block);
    const decoded = decodeBlock(block, block.material, { vm: 'evm', account_prefix: 'init' });
    assert.deepEqual([decoded.evm_txs.length, decoded.problems.length], [0, 0]);
    assert.equal(decoded.txs[0]?.accounts.has('0'.repeat(40)), false);
  });
});

describe('Move stores of the recording', () => {
  it('have an owner from the block in which they came to be', () => {
    const blocks = decodeRecording('move');
    const created = [...blocks.values()].flatMap((block) => block.stores);
    assert.equal(created.length, 21);
    assert.deepEqual(blocks.get(5)?.stores, [
      {
        store: 'fcfff93d2ba915029374a7a6eb9f6b6487e9f3a69cd1c5a282d5adb0eacc2572',
        owner: 'f1829676db577682e944fc3493d451b67ff3e29f',
      },
    ]);
    const named = blocks.get(70)?.txs[0]?.stores ?? [];
    assert.ok(named.includes('fcfff93d2ba915029374a7a6eb9f6b6487e9f3a69cd1c5a282d5adb0eacc2572'));
    assert.equal(new Set(named).size, named.length);
  });
});

describe('decodeTraces on the recording evm', () => {
  it('numbers the frames as the incumbent does', () => {
    const frames = new Map<string, Record<string, unknown>>();
    let count = 0;
    for (const block of recordedBlocks('evm').values()) {
      if (block.traces === undefined) continue;
      for (const frame of decodeTraces(block.height, block.traces)) {
        frames.set(`0x${frame.hash}/${frame.index}`, JSON.parse(frame.body) as Record<string, unknown>);
        checkFrame(frame);
        count++;
      }
    }
    assert.equal(count, 845);
    let compared = 0;
    for (const answer of incumbentAnswers('evm')) {
      if (!answer.path.startsWith('/indexer/tx/v1/evm-internal-txs')) continue;
      const page = JSON.parse(answer.body) as { internal_txs: Record<string, unknown>[] };
      for (const theirs of page.internal_txs) {
        const ours = frames.get(`${theirs['hash']}/${theirs['index']}`);
        assert.deepEqual(comparable(ours ?? {}), comparable(theirs));
        compared++;
      }
    }
    assert.ok(compared > 30);
  });

  /** The incumbent spells numbers with leading zeros: they are compared by value. */
  function comparable(frame: Record<string, unknown>): Record<string, unknown> {
    const number = (value: unknown) => (value === '0x' ? value : BigInt(String(value)));
    const { value, gas, gasUsed, ...rest } = frame;
    return { ...rest, value: number(value), gas: number(gas), gasUsed: number(gasUsed) };
  }

  function checkFrame(frame: DecodedFrame): void {
    const body = JSON.parse(frame.body) as Record<string, unknown>;
    assert.deepEqual(
      [body['hash'], body['index'], body['parent_index']],
      [`0x${frame.hash}`, frame.index, frame.parent_index],
    );
    assert.ok(frame.parent_index < frame.index);
    assert.equal(frame.accounts.get(String(body['from']).slice(2)), true);
  }
});

describe('blockTotals on the recordings', () => {
  it('adds up the gas that the facts tell of each tx', () => {
    for (const recording of ['evm', 'move', 'wasm', 'wasm-hostile']) {
      const { txs } = recordedFacts(recording) as Facts;
      for (const [height, block] of recordedBlocks(recording)) {
        const own = txs.filter((tx) => tx.height === height);
        const sum = (member: 'gas_used' | 'gas_wanted') =>
          own.reduce((total, tx) => total + BigInt(tx[member]), 0n);
        const totals = blockTotals(block.material);
        assert.deepEqual([totals.gas_used, totals.gas_wanted], [sum('gas_used'), sum('gas_wanted')]);
      }
    }
  });

  it('adds up fees by denom, those of failed txs too', () => {
    const move = recordedBlocks('move');
    const fees = (height: number) => {
      const block = move.get(height);
      assert.ok(block);
      return blockTotals(block.material).total_fee;
    };
    assert.deepEqual(fees(1), []);
    assert.deepEqual(fees(9), [{ denom: 'umin', amount: '150000' }]);
    assert.deepEqual(fees(21), []);
    assert.deepEqual(
      fees(15).map((coin) => coin.denom),
      ['ufoo', 'umin'],
    );
    assert.deepEqual(fees(22), [{ denom: 'umin', amount: String(150000 * 12) }]);
  });
});

describe('the hash of a tx', () => {
  it('is that of its raw bytes', () => {
    const block = recordedBlocks('wasm').get(6);
    assert.ok(block);
    const raw = block.material.txs[0]?.raw ?? Buffer.alloc(0);
    const { txs } = decodeBlock(block, block.material, { vm: 'wasm', account_prefix: 'init' });
    assert.equal(txs[0]?.hash, createHash('sha256').update(raw).digest('hex'));
  });
});
