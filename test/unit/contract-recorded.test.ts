import assert from 'node:assert/strict';
import { scoreInterface } from '../../services/scoring-operator/contract/artifact.js';
import { decodeRevert } from '../../services/scoring-operator/contract/errors.js';
import { derivedChainId } from '../../services/scoring-operator/contract/rpc.js';
import { type Call, readChain } from '../support/recorded-chain.js';

interface Log {
  readonly address: string;
  readonly topics: string[];
  readonly data: string;
}

/** A call and those within it. */
const callsIn = (call: Call): Call[] => [call, ...(call.calls ?? []).flatMap(callsIn)];

describe('the scoring contract of the recorded rollup', () => {
  const { receipts, traces } = readChain('evm');
  const events: { name: string; height: number; address: string; args: readonly unknown[] }[] = [];
  for (const [height, list] of [...receipts].sort(([a], [b]) => a - b)) {
    for (const log of list.flatMap((receipt) => receipt['logs'] as Log[])) {
      const parsed = scoreInterface.parseLog(log);
      if (parsed !== null)
        events.push({ name: parsed.name, height, address: log.address, args: [...parsed.args] });
    }
  }
  const calls = [...traces.values()].flat().flatMap(({ result }) => callsIn(result));
  const named = (name: string) => events.filter((event) => event.name === name);

  it('emits the events that we read, all from one contract', () => {
    assert.equal(new Set(events.map(({ address }) => address)).size, 1);
    assert.deepEqual(
      named('FinalizeStage').map(({ args }) => args[0]),
      [1n],
    );
    assert.deepEqual(
      named('CreateStage').map(({ args }) => args[0]),
      [1n, 2n],
    );
    assert.ok(named('UpdateScore').length > 0);
  });

  it('keeps totals as ours does: the sum of the scores at any time', () => {
    const stages = new Map<bigint, Map<string, bigint>>();
    for (const { args } of named('UpdateScore')) {
      const [address, stage, amount, total] = args as [string, bigint, bigint, bigint];
      const scores = stages.get(stage) ?? new Map<string, bigint>();
      stages.set(stage, scores.set(address, amount));
      assert.equal(
        [...scores.values()].reduce((a, b) => a + b, 0n),
        total,
      );
    }
  });

  it('was called with calldata that we write', () => {
    const updates = calls.filter(({ input }) => String(input).startsWith('0x45a2b96b'));
    assert.ok(updates.length > 0);
    for (const { input } of updates) {
      const decoded = scoreInterface.decodeFunctionData('updateScores', String(input));
      assert.equal(scoreInterface.encodeFunctionData('updateScores', [...decoded]), input);
    }
  });

  it('refused a stage that it did not have, with an error that we read', () => {
    const refused = calls.filter(
      ({ error, input }) => error !== undefined && String(input).startsWith('0x45a2b96b'),
    );
    const errors = refused.map(({ output }) => decodeRevert(String(output)));
    assert.deepEqual(errors, [{ name: 'StageNotFound', args: [9n] }]);
  });

  it('is on a chain whose EVM chain id follows from its chain id', () => {
    assert.equal(derivedChainId('minievm-rec-1'), 0xdc8490bd296cn);
    // A public rollup, as the registry of chains has it.
    assert.equal(derivedChainId('yominet-1'), 428_962_654_539_583n);
  });
});
