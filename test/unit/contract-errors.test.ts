import assert from 'node:assert/strict';
import { NodeError } from '../../services/common/chain/endpoints.js';
import { scoreInterface } from '../../services/scoring-operator/contract/artifact.js';
import { decodeRevert, explainFailure } from '../../services/scoring-operator/contract/errors.js';
import { requiredPrice } from '../../services/scoring-operator/contract/fees.js';
import { broadcast } from '../../services/scoring-operator/contract/flight.js';
import { RpcAnswerError } from '../../services/scoring-operator/contract/rpc.js';

const who = '0x00000000000000000000000000000000000000AA';
const encode = (name: string, args: unknown[]): string => scoreInterface.encodeErrorResult(name, args);

describe('errors of the contract', () => {
  const errors: [string, unknown[], RegExp][] = [
    ['PermissionDenied', [who], /0x0{38}AA is not on the allow list/],
    ['ZeroStage', [], /no stage 0/],
    ['AddrsAndAmountsLengthMistmatch', [], /not as many amounts/],
    ['StageNotFound', [7n], /no stage 7/],
    ['StageFinalized', [7n], /stage 7 is finalized/],
    ['PreviousStageNotFinalized', [6n], /stage 6 comes before/],
    ['ScoreOutOfRange', [who, 7n], /stage 7 would leave/],
    ['Panic', [0x11n], /overflow/],
    ['Error', ['because'], /because/],
  ];
  for (const [name, args, words] of errors) {
    it(`are decoded wherever a node puts them: ${name}`, () => {
      const data = encode(name, args);
      const answers = [
        { code: 3, message: 'execution reverted', data },
        { code: 3, message: 'execution reverted', data: data.toUpperCase().replace('0X', '0x') },
        { code: -32_000, message: `execution reverted: custom error ${data}` },
        { code: -32_015, message: 'VM execution error.', data: `Reverted ${data}` },
        { code: -32_603, message: 'Internal error', data: { originalError: { code: 3, data } } },
      ];
      for (const answer of answers) {
        const error = explainFailure('it', answer);
        assert.equal(error.kind, 'reverted');
        assert.equal(error.revert?.name, name);
        assert.match(error.message, words);
      }
    });
  }

  it('show no more than a line of what a contract says, and nothing that steers a terminal', () => {
    const said = '\u001b[31mred\n\u202etxt'.repeat(100_000);
    for (const failure of [
      { code: 3, message: 'execution reverted', data: encode('Error', [said]) },
      { code: -32_000, message: `execution reverted: ${said}` },
      { code: -32_000, message: said },
    ]) {
      const { message } = explainFailure('it', failure);
      assert.ok(message.length < 400, `${message.length} characters`);
      assert.doesNotMatch(message, /[\p{Cc}\p{Cf}]/u);
      assert.match(message, /red/);
    }
  });

  it('are known by name in a text', () => {
    const error = explainFailure('it', { code: 3, message: 'execution reverted: StageFinalized(12)' });
    assert.deepEqual([error.kind, error.revert], ['reverted', { name: 'StageFinalized', args: ['12'] }]);
  });

  it('stay unknown when they are', () => {
    assert.equal(decodeRevert('0x'), undefined);
    assert.equal(decodeRevert('0xdeadbeef'), undefined);
    assert.equal(decodeRevert(encode('StageNotFound', [1n]).slice(0, 30)), undefined);
    for (const message of [
      'Reverted',
      'execution reverted',
      'VM Exception while processing transaction: revert',
    ]) {
      const error = explainFailure('it', { code: -32_000, message });
      assert.deepEqual([error.kind, error.revert], ['reverted', { name: '', args: [] }], message);
    }
  });

  it('tell too much gas from too little money from the rest', () => {
    const kindOf = (message: string) => explainFailure('it', { code: -32_000, message }).kind;
    for (const message of [
      'out of gas in location: WritePerByte; gasWanted: 3000000, gasUsed: 3000001: out of gas',
      'gas required exceeds allowance (30000000)',
      'exceeds block gas limit',
      'intrinsic gas too high',
      'oversized data: transaction size 140000, limit 131072',
      'Tx too large. Max size is 1048576, but got 2097152',
    ]) {
      assert.equal(kindOf(message), 'out_of_gas', message);
    }
    for (const message of [
      'insufficient funds for gas * price + value',
      'spendable balance 0GAS is smaller than 100GAS: insufficient funds',
    ]) {
      assert.equal(kindOf(message), 'insufficient_funds', message);
    }
    assert.equal(kindOf('unauthorized'), 'refused');
  });
});

describe('the price that a refusal names', () => {
  const text = 'insufficient fee; got: 1492912GAS required: 497637000000000GAS';
  it('is what is required by gas, rounded up, in whatever unit fees are', () => {
    assert.equal(requiredPrice(text, 1n, 1_492_912n), 333_333_111n);
    assert.equal(requiredPrice(text.replace('1492912', '0'), 0n, 1_492_912n), 333_333_111n);
    assert.equal(requiredPrice('insufficient fees; got: 5umin required: 50umin', 10n ** 9n, 7n), 10n ** 10n);
    assert.equal(requiredPrice('insufficient fees; got:  required: 21GAS: insufficient fee', 0n, 10n), 3n);
    assert.equal(requiredPrice('replacement transaction underpriced', 1n, 10n), undefined);
  });
});

describe("a node's answer to raw bytes", () => {
  const answering = (message: string) =>
    broadcast(
      { call: () => Promise.reject(new RpcAnswerError('m', { code: -32_000, message })) },
      '0x',
      'it',
    );
  const answers: [string, string][] = [
    ['already known', 'sent'],
    ['tx already exists in cache', 'sent'],
    ['nonce too low: next nonce 5, tx nonce 4', 'nonce_used'],
    ['account sequence mismatch, expected 7, got 5: incorrect account sequence', 'nonce_used'],
    ['account sequence mismatch, expected 5, got 7: incorrect account sequence', 'not_yet'],
    ['nonce too high', 'not_yet'],
    ['mempool is full: number of txs 5000 (max: 5000)', 'not_yet'],
    ['replacement transaction underpriced', 'underpriced'],
    ['insufficient fees; got: 1GAS required: 5GAS: insufficient fee', 'underpriced'],
    ['max fee per gas less than block base fee: 1', 'underpriced'],
    ['insufficient funds for gas * price + value', 'refused'],
    ['signature verification failed', 'unclear'],
    ['', 'unclear'],
    ['tx nonce 1 is stale for sender 0xab (expected >= 2): incorrect account sequence', 'nonce_used'],
    [
      'active tx with nonce 1 for sender 0xab has priority 1 >= replacement priority 1: tx already in mempool',
      'not_replaced',
    ],
    ['insufficient fee; got: 1492912GAS required: 497637000000000GAS', 'underpriced'],
    ['account init1ab does not exist: unknown address', 'refused'],
  ];
  for (const [message, kind] of answers) {
    it(`${kind}: ${message}`, async () => {
      assert.equal((await answering(message)).kind, kind);
    });
  }

  it('sent when it takes them, lost when there is no answer', async () => {
    assert.equal((await broadcast({ call: async () => '0x1' }, '0x', 'it')).kind, 'sent');
    const lost = () => Promise.reject(new NodeError('connection', 'socket hang up'));
    assert.equal((await broadcast({ call: lost }, '0x', 'it')).kind, 'lost');
  });
});
