import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { parsePolicy, policyOf } from '../../services/scoring-operator/policy/parse.js';
import { loadProgram, parseProgram, rereadRules } from '../../services/scoring-operator/program/program.js';
import { temporaryFolder } from '../support/folder.js';

const least = {
  l1: { urls: ['http://l1/'], module: '0x1' },
  rollup: { json_rpc_urls: ['http://node:8545'] },
  contract: `0x${'a'.repeat(40)}`,
  policy: 'p.yaml',
};
const parse = (value: unknown) => parseProgram(JSON.stringify(value), 'p', '/');

describe('a program', () => {
  it('is read from the example', () => {
    const program = loadProgram(join(packageRoot, 'examples/program.yaml'));
    const { name, rules, policy } = program;
    assert.deepEqual([name, rules.approval, policy], ['example', 'Manual', 'policy.yaml']);
  });
  it('has defaults that do nothing without a person', () => {
    const { rules, bridge_id, l1, indexers } = parse(least);
    assert.deepEqual(rules, {
      margin_s: 600,
      approval: 'Manual',
      approved_stage: undefined,
      approved_list: undefined,
      allow_empty: [],
      stop_at_stage: undefined,
      vip_version: undefined,
    });
    assert.deepEqual(
      [bridge_id, l1.urls, l1.module.name, indexers.tx],
      ['auto', ['http://l1'], 'vip', '127.0.0.1:7002'],
    );
  });
  it('keeps the numbers of a policy that stands in it as they are written', () => {
    const policy = [
      'version: 1',
      'name: exact',
      'rules:',
      '  - { kind: calls, name: c, weight: 0.1, divisor: 1000000000000000000001, contracts: [0x%s] }',
    ].join('\n');
    const text = policy.replace('%s', '1'.repeat(40));
    const inline = text.replaceAll('\n', '\n  ');
    const whole = `l1: { urls: [http://l1], module: '0x1' }\nrollup: { json_rpc_urls: [http://n] }\ncontract: 0x${'a'.repeat(40)}\npolicy:\n  ${inline}\n`;
    const options = { from: 'p', account_prefix: 'init' };
    const program = parseProgram(whole, 'p', '/');
    assert.equal(program.contract, `0x${'a'.repeat(40)}`);
    assert.equal(policyOf(program.policy, options).hash, parsePolicy(text, options).hash);
  });
  it('says where a text is no YAML, and shows nothing of it', () => {
    assert.throws(
      () => parseProgram('l1: {\nkey: "secret', 'p', '/'),
      ({ message }: Error) => /no YAML at line 2/.test(message) && !message.includes('secret'),
    );
  });
  it('says every mistake at once, and shows no value: it may be a key', () => {
    const key = 'f'.repeat(64);
    const wrong = { contract: key, private_key: key, approval: 'Yes', l1: { urls: [], module: '0x1' } };
    const parts = ['private_key is not known', 'contract: ', 'approval: must be one of', 'l1.urls: '];
    assert.throws(
      () => parse({ ...least, ...wrong }),
      ({ message }: Error) => {
        for (const part of parts) assert.ok(message.includes(part), `${part} in ${message}`);
        return !message.includes(key);
      },
    );
    assert.throws(
      () => parseProgram(`a: [${key}`, 'p', '/'),
      ({ message }: Error) => !message.includes(key),
    );
  });
  it('lets a stage be approved while it runs, and keeps its rules when the file is broken', () => {
    const folder = temporaryFolder('program');
    const path = join(folder, 'p.yaml');
    const mistakes: string[] = [];
    const rules = rereadRules(path, parse(least).rules, (message) => mistakes.push(message));
    writeFileSync(path, JSON.stringify({ ...least, approved_stage: 5 }));
    assert.equal(rules().approved_stage, 5n);
    writeFileSync(path, '{"approved_stage": 9');
    assert.equal(rules().approved_stage, 5n);
    rmSync(folder, { recursive: true });
    assert.equal(rules().approved_stage, 5n);
    assert.equal(mistakes.length, 2);
  });
  it('refuses a window without length, and what is missing', () => {
    const windows = (...all: [number, number, number][]) => {
      const told = all.map(([stage, start_time, end_time]) => ({ stage, start_time, end_time }));
      return parse({ ...least, windows: told });
    };
    assert.throws(() => windows([5, 9, 9]), /stage 5 does not end after it starts/);
    assert.throws(() => windows([5, 1, 9], [5, 1, 8]), /stage 5 is there twice/);
    assert.throws(() => windows([6, 8, 20], [5, 1, 9]), /stage 6 does not start when stage 5 ends/);
    assert.throws(() => windows([5, 1, 9], [6, 10, 20]), /stage 6 does not start when stage 5 ends/);
    assert.throws(() => windows([5, 1, 9], [8, 8, 20]), /stage 8 does not start after stage 5 ends/);
    assert.equal(windows([5, 1, 9], [6, 9, 20], [9, 30, 40]).windows.length, 3);
    for (const name of Object.keys(least))
      assert.throws(() => parse({ ...least, [name]: undefined }), new RegExp(`${name} is missing`));
  });
});
