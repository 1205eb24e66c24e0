import assert from 'node:assert/strict';
import { toBech32 } from '../../services/common/chain/address.js';
import { decodeActivity } from '../../services/tx/decode/activity.js';
import { nameScanner } from '../../services/tx/decode/names.js';

const names = nameScanner({ vm: 'evm', account_prefix: 'init' });
const [alice, bob, pool] = ['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(40)];
const call = (sender: string, more: object = {}) => ({
  '@type': '/minievm.evm.v1.MsgCall',
  sender: toBech32(sender, 'init'),
  contract_addr: `0x${pool.toUpperCase()}`,
  input: '0xA9059CBB0000',
  ...more,
});
const decode = (messages: readonly object[], more: object = {}) =>
  decodeActivity(
    JSON.stringify({
      code: 3,
      gas_used: '12',
      events: [
        { type: 'tx', attributes: [{ key: 'acc_seq', value: `${toBech32(bob, 'init')}/1`, index: true }] },
        { type: 'tx', attributes: [{ key: 'acc_seq', value: `${toBech32(alice, 'init')}/7`, index: true }] },
      ],
      tx: { body: { messages }, auth_info: {}, signatures: [] },
      ...more,
    }),
    5,
    2,
    names,
  );
const row = (from: string, to: string, selector: string) => ({ from: `0x${from}`, to: `0x${to}`, selector });

describe('what a tx did', () => {
  it('is told with its place, signers in order, result, gas and message types', () => {
    assert.deepEqual(decode([{ '@type': '/a.B' }, { '@type': '/a.B' }, { '@type': '/c.D' }]), {
      height: 5,
      position: 2,
      signers: [`0x${bob}`, `0x${alice}`],
      code: 3,
      gas_used: '12',
      msgs: ['a.B', 'c.D'],
      calls: [],
    });
  });

  it('has the calls of its messages in order, those within authorised executions at their place', () => {
    const exec = (...msgs: readonly object[]) => ({ '@type': '/cosmos.authz.v1beta1.MsgExec', msgs });
    const { calls, msgs } = decode([
      call(alice),
      exec(call(bob, { input: '0x11111111' }), exec(call(alice, { input: '22222222ff' })), {
        '@type': '/x.Y',
      }),
      call(alice, { input: '0x123456' }),
    ]);
    assert.deepEqual(calls, [
      row(alice, pool, '0xa9059cbb'),
      row(bob, pool, '0x11111111'),
      row(alice, pool, '0x22222222'),
      row(alice, pool, ''),
    ]);
    assert.deepEqual(msgs, ['minievm.evm.v1.MsgCall', 'cosmos.authz.v1beta1.MsgExec']);
  });

  it('takes a contract in bech32, and leaves out calls from or to what is no account', () => {
    const { calls } = decode([
      call(alice, { contract_addr: toBech32(pool, 'init') }),
      call(alice, { contract_addr: 'nowhere' }),
      call(alice, { sender: 'nobody' }),
      call(alice, { input: null }),
    ]);
    assert.deepEqual(calls, [row(alice, pool, '0xa9059cbb'), row(alice, pool, '')]);
  });

  it('is little of a tx that could not be read, and an error of what is no tx', () => {
    const poor = { signers: [], code: 0, gas_used: '0', msgs: [], calls: [] };
    assert.deepEqual(decodeActivity('{}', 5, 2, names), { height: 5, position: 2, ...poor });
    assert.deepEqual(decode(['x', null, 7] as never, { events: 'x', code: '3', gas_used: 5 }), {
      height: 5,
      position: 2,
      ...poor,
    });
    assert.throws(() => decodeActivity('[]', 5, 2, names), /tx 2 of block 5/);
  });

  it('is read of messages that are nested however deep', () => {
    const depth = 3_000;
    const before = '{"@type":"/cosmos.authz.v1beta1.MsgExec","msgs":['.repeat(depth);
    const message = `${before}${JSON.stringify(call(alice))}${']}'.repeat(depth)}`;
    const body = `{"tx":{"body":{"messages":[${message}]}}}`;
    assert.equal(decodeActivity(body, 1, 0, names).calls.length, 1);
  });

  it('has the calls of an execution of any number of messages', () => {
    const many = 200_000;
    const msgs = Array.from({ length: many }, () => ({ '@type': '/cosmos.bank.v1beta1.MsgSend' }));
    const { calls } = decode([{ '@type': '/cosmos.authz.v1beta1.MsgExec', msgs: [...msgs, call(alice)] }]);
    assert.equal(calls.length, 1);
  });
});
