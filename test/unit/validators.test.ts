import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createValidators } from '../../services/block/validators.js';
import type { Validator } from '../../services/common/chain/rest.js';
import { createLog } from '../../services/common/runtime/log.js';
import { fakeEndpoints } from '../support/fake-endpoints.js';

const key = Buffer.alloc(32, 7);
const address = createHash('sha256').update(key).digest('hex').slice(0, 40).toUpperCase();
const minutes = (n: number): number => n * 60_000;

/** Tables, a node and a clock that a test sets. */
function world() {
  const written: Validator[] = [];
  const node = { moniker: 'first', asked: 0, isUp: true };
  const clock = { now: minutes(1_000) };
  const rest = fakeEndpoints('rest', () => {
    node.asked += 1;
    if (!node.isUp) throw new Error('down');
    const consensus_pubkey = { key: key.toString('base64') };
    const validator = { moniker: node.moniker, operator_address: 'initvaloper1x', consensus_pubkey };
    return [200, { validators: [validator] }];
  });
  const store = {
    validators: async () => [...new Map(written.map((each) => [each.consensus_address, each])).values()],
    writeValidators: async (validators: readonly Validator[]) => {
      written.push(...validators);
    },
  };
  const make = () => createValidators(store, createLog('silent'), () => clock.now);
  const { signal } = new AbortController();
  return { node, clock, written, make, rest, signal };
}

describe('the names of proposers', () => {
  it('are asked for once, and an hour later again: a moniker can change', async () => {
    const { node, clock, written, make, rest, signal } = world();
    const validators = make();
    assert.equal(await validators.learn(address, rest, signal), true);
    assert.equal(validators.find(address).moniker, 'first');
    node.moniker = 'second';
    clock.now += minutes(59);
    assert.equal(await validators.learn(address, rest, signal), false);
    assert.equal(node.asked, 1);
    clock.now += minutes(2);
    assert.equal(await validators.learn(address, rest, signal), true);
    assert.equal(validators.find(address).moniker, 'second');
    clock.now += minutes(61);
    assert.equal(await validators.learn(address, rest, signal), false, 'nothing has changed');
    assert.deepEqual([node.asked, written.length], [3, 2]);
  });

  it('are asked for again soon while a proposer is unknown, or the node down', async () => {
    const { node, clock, make, rest, signal } = world();
    const validators = make();
    node.isUp = false;
    assert.equal(await validators.learn(address, rest, signal), false);
    assert.equal(await validators.learn(address, rest, signal), false);
    assert.equal(node.asked, 1);
    node.isUp = true;
    clock.now += 31_000;
    assert.equal(await validators.learn(address, rest, signal), true);
    assert.equal(await validators.learn('ANOTHER', rest, signal), false);
    clock.now += 31_000;
    assert.equal(await validators.learn('ANOTHER', rest, signal), false);
    assert.deepEqual([node.asked, validators.find('ANOTHER').moniker], [3, '']);
  });

  it('reach a process that only serves, which is told whether anything changed', async () => {
    const { node, clock, make, rest, signal } = world();
    const [writer, reader] = [make(), make()];
    assert.equal(await reader.load(), false);
    await writer.learn(address, rest, signal);
    assert.deepEqual([await reader.load(), await reader.load()], [true, false]);
    node.moniker = 'second';
    clock.now += minutes(61);
    await writer.learn(address, rest, signal);
    assert.deepEqual([await reader.load(), reader.find(address).moniker], [true, 'second']);
  });
});
