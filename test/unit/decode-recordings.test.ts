import assert from 'node:assert/strict';
import { blockTotals } from '../../services/block/totals.js';
import { parseAccount, toBech32 } from '../../services/common/chain/address.js';
import { decodeBlock } from '../../services/tx/decode/block.js';
import type { DecodedBlock } from '../../services/tx/decode/types.js';
import { type RecordingName, readFacts, recordings, vmOf } from '../support/facts.js';
import { recordedBlocks } from '../support/material.js';

interface Body {
  txhash: string;
  height: string;
  code: number;
  codespace: string;
  gas_wanted: string;
  gas_used: string;
}

const lab = {
  operator: 'init1tg0hjdqw46gy9sfqg568jzvx09fcv3datu00pv',
  alice: 'init1vwaygemc9eywzcr50l5lw23r0nj860uwxmthy7',
  bob: 'init13y4evpwj5dnwtd3909wagxg4x7rmq5k77vaje6',
  carol: 'init1nwdzlsetuadlxgpy9evvk8m296jr4cv4trcd5a',
  dave: 'init1pdltq0mvha49w8nhwx64wv8pxhwm73gms6a8jv',
  erin: 'init1jj2wn6pfkr0y9jak3k23gmqzy0s5z4z7822j6p',
  frank: 'init1fe8cs6zzxp52f38y6ztajs75m565qnx25zraf4',
};

/**
 * How many txs name each account. Where the recording's own figure is lower, the difference is one
 * tx each: a typed event whose value is a quoted string (dave, and the second account of evm), a
 * denom (alice), a comma and a space (bob), a sentence (erin), an upper-case address (bob in
 * wasm-hostile).
 */
const COUNTS: Record<RecordingName, Record<string, number>> = {
  evm: {
    init17w0adeg64ky0daxwd2ugyuneellmjgnxdtmpqz: 57,
    init1wzvhjux9rqfdcwspp37srdgwp5tac7wg9ql75y: 45,
    init183zvmhdk4yq0526cthffncpaztay9yau4q4236: 42,
    init1jrmehaht938cwqm9u7zestslzq0f8wgx7e50a4: 36,
    init1zhf54t65ye7m047rv7pe4tm35q9zc6n97sn55x: 25,
    init1n9j4qlg62k7vy62utzapd7ehmqvmpfxucure4u: 24,
    init1jah2wspxuun92ndk2la9ga36h5xr5z4f2w2cgs: 23,
    init1znw8n9jd5tqgkgmf3v7ne372xgvnmx245nfaw5: 23,
    '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512': 41,
  },
  move: { operator: 44, alice: 112, bob: 90, carol: 54, dave: 60, erin: 16, frank: 146, '0x1': 274 },
  wasm: { operator: 30, alice: 75, bob: 72, carol: 65, dave: 52, erin: 15, frank: 146, '0x1': 0 },
  'wasm-hostile': { operator: 30, alice: 79, bob: 75, carol: 72, dave: 55, erin: 15, frank: 146 },
};

function decodeRecording(recording: RecordingName): Map<number, DecodedBlock> {
  const vm = vmOf(recording) as 'evm' | 'move' | 'wasm';
  const decoded = new Map<number, DecodedBlock>();
  for (const [height, block] of recordedBlocks(recording)) {
    decoded.set(height, decodeBlock(block, block.material, { vm, account_prefix: 'init' }));
  }
  return decoded;
}

for (const recording of recordings) {
  describe(`decodeBlock on the recording ${recording}`, () => {
    const facts = readFacts(recording);
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
          [fact.hash, `${fact.height}`, fact.code, fact.codespace, `${fact.gas_wanted}`, `${fact.gas_used}`],
        );
        const signers = [...tx.named().accounts]
          .filter(([, signer]) => signer)
          .map(([key]) => toBech32(key, 'init'));
        assert.deepEqual(signers, fact.signers);
        assert.deepEqual([...tx.msgs].sort(), [...new Set(fact.msgs)].sort());
      }
    });

    it('has no other txs, and no problems', () => {
      const all = [...blocks.values()];
      assert.equal(all.flatMap((block) => block.txs).length, facts.txs_total);
      assert.equal(all.flatMap((block) => block.evm_txs).length, facts.evm_txs_total ?? 0);
      assert.deepEqual(
        all.flatMap((block) => block.problems),
        [],
      );
    });

    it('finds every tx that names an account', () => {
      const txs = [...blocks.values()].flatMap((block) => block.txs);
      for (const [account, expected] of Object.entries(COUNTS[recording])) {
        const key = parseAccount(lab[account as keyof typeof lab] ?? account, 'init') ?? '';
        assert.equal(txs.filter((tx) => tx.named().accounts.has(key)).length, expected, account);
      }
    });
  });
}

describe('evm txs of the recording', () => {
  it('belong to the right Cosmos tx: a failed call names its contract only in its receipt', () => {
    const blocks = decodeRecording('evm');
    for (const [height, contract] of [
      [73, '59b670e9fa9d0a427751af201d676719a970857b'],
      [95, '67d269191c92caf3cd7723f116c85e6e9bf55933'],
    ] as const)
      assert.equal(blocks.get(height)?.txs[0]?.named().accounts.get(contract), false, String(height));
  });

  it('leave the receipt out where there is none: a failed bank send keeps to its events', () => {
    const block = decodeRecording('evm').get(6);
    assert.equal(block?.evm_txs.length, 0);
    assert.equal(block.txs[0]?.named().accounts.has('0'.repeat(40)), false);
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
    const named = blocks.get(70)?.txs[0]?.named().stores ?? [];
    assert.ok(named.includes('fcfff93d2ba915029374a7a6eb9f6b6487e9f3a69cd1c5a282d5adb0eacc2572'));
    assert.equal(new Set(named).size, named.length);
  });
});

describe('blockTotals on the recordings', () => {
  it('adds up the gas that the facts tell of each tx', () => {
    for (const recording of recordings) {
      const { txs } = readFacts(recording);
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
    const fees = (height: number) =>
      JSON.parse(blockTotals(move.get(height)!.material).total_fee) as { denom: string; amount: string }[];
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
