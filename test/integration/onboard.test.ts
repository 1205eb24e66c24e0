import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { derivedChainId } from '../../services/scoring-operator/contract/rpc.js';
import { runDeployContract } from '../../tools/deploy-contract/cli.js';
import type { Anvil } from '../../tools/dev/anvil.js';
import { type SimulatedL1, startSimulatedL1 } from '../../tools/dev/l1.js';
import { runOnboard } from '../../tools/onboard/cli.js';
import type { Step } from '../../tools/onboard/steps/step.js';
import { anvilOrSkip } from '../support/anvil.js';
import { temporaryFolder } from '../support/folder.js';
import { type HttpServer, serveRest } from '../support/http-server.js';
import { addressOf, deployKind } from '../support/score-contract.js';
import { l1InStage } from '../support/scoring/l1.js';

const module = { address: '0x42cd', name: 'vip', prefix: 'initia' };
const chain_id = 'myrollup-1';

const policy = `version: 1
name: activity
description: Points for using the rollup.
rules:
  - name: sent
    kind: transactions
    weight: 10
`;

describe('weft onboard', () => {
  let anvil: Anvil;
  let l1: SimulatedL1;
  let node: HttpServer;
  let folder: string;
  let routes: Record<string, unknown>;

  before(async function () {
    anvil = await anvilOrSkip(this, { chain_id: Number(derivedChainId(chain_id)) });
    node = await serveRest(() => routes);
    l1 = await startSimulatedL1({
      module,
      state: l1InStage(12n, 1_700_000_000, 86_400),
    });
  });
  after(async () => {
    await anvil?.stop();
    await l1?.close();
    await node?.close();
  });
  beforeEach(() => {
    folder = temporaryFolder('onboard');
    l1.state.bridges = [];
    const version = 'v1.2.18';
    const status = {
      node_info: { network: chain_id },
      sync_info: { latest_block_height: '9', earliest_block_height: '1' },
    };
    routes = {
      '/abci_info': {
        jsonrpc: '2.0',
        id: -1,
        result: { response: { data: 'minitia', version, last_block_height: '9' } },
      },
      '/status': { jsonrpc: '2.0', id: -1, result: status },
      '/minievm/evm/v1/params': { params: { fee_denom: 'GAS', allowed_publishers: [] } },
      '/opinit/opchild/v1/params': {
        params: { min_gas_prices: [{ denom: 'GAS', amount: '0.150000000000000000' }] },
      },
      '/opinit/opchild/v1/bridge_info': { bridge_info: { bridge_id: '7' } },
    };
  });
  afterEach(() => {
    process.exitCode = 0;
  });

  /** The command-line tool of the rollup, as far as its version. */
  const toolOf = (version: string): string => {
    const path = join(folder, `tool-${version}`);
    writeFileSync(path, `#!/bin/sh\necho "${version}" >&2\n`);
    chmodSync(path, 0o755);
    return path;
  };

  const everything = (): Record<string, string> => ({
    RPC_URL: node.url,
    REST_URL: node.url,
    JSON_RPC_URL: anvil.url,
    L1_REST_URL: l1.url,
    VIP_MODULE_ADDRESS: module.address,
    OPERATOR_ADDRESS: 'init17w0adeg64ky0daxwd2ugyuneellmjgnxdtmpqz',
    PRIVATE_KEY: anvil.accounts[0]?.private_key as string,
    ROLLUP_TOOL: toolOf('1.2.18'),
    NETWORK: 'mainnet',
  });

  const walk = async (
    env: Record<string, string>,
    ...args: string[]
  ): Promise<{ text: string; steps: Record<string, Step> }> => {
    let text = '';
    const world = {
      env,
      now: () => 1_700_040_000_000,
      print: (line: string) => {
        text += `${line}\n`;
      },
    };
    await runOnboard(['--out', folder, ...args], world);
    assert.ok(!text.includes((anvil.accounts[0]?.private_key ?? 'no key').slice(2)));
    const json = args.includes('--json') ? (JSON.parse(text) as { steps: Step[] }) : { steps: [] };
    return { text, steps: Object.fromEntries(json.steps.map((one) => [one.title, one])) };
  };

  const states = (steps: Record<string, Step>): string[] => Object.values(steps).map(({ state }) => state);

  it('says what to set when nothing is known, and changes nothing', async () => {
    const { text } = await walk({ ROLLUP_TOOL: join(folder, 'none') });
    for (const name of [
      'RPC_URL',
      'JSON_RPC_URL',
      'L1_REST_URL',
      'OPERATOR_ADDRESS',
      'SCORE_CONTRACT',
      '--policy',
    ]) {
      assert.ok(text.includes(name), name);
    }
    assert.equal(text.match(/^ ?\d+\. missing/gm)?.length, 9);
    assert.deepEqual(readdirSync(folder), []);
    assert.notEqual(process.exitCode, 1);
  });

  it('walks from nothing to registered', async () => {
    const env = everything();
    const first = (await walk(env, '--json')).steps;
    assert.deepEqual(states(first), [...Array(4).fill('done'), ...Array(5).fill('missing')]);
    assert.match(
      first['current stage of the program']?.facts.join() ?? '',
      /stage 12, 2023-11-14T22:13:20Z to .*13 hours are left/,
    );
    assert.match(first['accounts of operator and deployer']?.facts.join() ?? '', /gas is free/);

    let address = '';
    await runDeployContract(['--out', folder], {
      env: { ...env, INIT_STAGE: 'auto' },
      say: () => {},
      print: (line) => {
        address = line;
      },
    });
    const file = join(folder, 'policy.yaml');
    writeFileSync(file, policy);
    const second = (await walk(env, '--policy', file, '--write', '--json')).steps;
    assert.equal(second['scoring contract']?.state, 'done', JSON.stringify(second['scoring contract']));
    assert.match(second['scoring contract']?.facts.join() ?? '', new RegExp(`${address}: first stage 12`));
    assert.equal(second['scoring policy']?.state, 'done', JSON.stringify(second['scoring policy']));
    assert.match(second['whitelist proposal']?.facts.join() ?? '', /everything that it needs is known/);
    const proposal = readFileSync(join(folder, 'whitelist-proposal.md'), 'utf8');
    for (const part of [
      address,
      'init17w0adeg64ky0daxwd2ugyuneellmjgnxdtmpqz',
      chain_id,
      'weight: 10',
      'transactions sent',
      '| First stage | 12 |',
    ]) {
      assert.ok(proposal.includes(part), part);
    }
    assert.ok(!proposal.includes('TO BE FILLED IN'));

    const draft = JSON.parse(readFileSync(join(folder, 'chain.json'), 'utf8'));
    assert.equal(draft.evm_chain_id, Number(derivedChainId(chain_id)));
    assert.deepEqual(draft.fees.fee_tokens, [{ denom: 'GAS', fixed_min_gas_price: 0.15 }]);
    assert.deepEqual(draft.metadata.minitia, { type: 'minievm', version: 'v1.2.18' });
    const todo = second['registry entry']?.todo.join('\n') ?? '';
    assert.match(todo, /apis.rpc.0.address must be a public https URL/);
    assert.match(todo, /apis.json-rpc-websocket is empty/);

    const url = [{ address: 'https://rollup.example' }];
    draft.apis = {
      rpc: url,
      rest: url,
      'json-rpc': url,
      'json-rpc-websocket': [{ address: 'wss://rollup.example' }],
    };
    writeFileSync(join(folder, 'chain.json'), JSON.stringify(draft));
    l1.state.bridges = [
      { bridge_id: 7n, version: 1n, init_stage: 12n, vip_l2_score_contract: address.toLowerCase() },
    ];
    const third = (await walk(env, '--policy', file, '--json')).steps;
    assert.deepEqual(states(third), Array(9).fill('done'), JSON.stringify(third, null, 1));
    assert.notEqual(process.exitCode, 1);
  });

  it('writes over nothing', async () => {
    writeFileSync(join(folder, 'chain.json'), '{}');
    const { text } = await walk(everything(), '--write');
    assert.match(text, /chain.json is there already, and was left as it is/);
    assert.equal(readFileSync(join(folder, 'chain.json'), 'utf8'), '{}');
    assert.ok(existsSync(join(folder, 'whitelist-proposal.md')));
  });

  it('compares a registry entry with the rollup, and says all that is wrong with it', async () => {
    const url = [{ address: 'https://rollup.example', nickname: 'x' }];
    const entry = {
      chain_name: 'My Rollup',
      chain_id: 'other-1',
      evm_chain_id: 5,
      bech32_prefix: 'cosmos',
      network_type: 'testnet',
      fees: { fee_tokens: [] },
      apis: { rpc: url },
      colour: 'red',
      metadata: { op_bridge_id: '8', op_denoms: [], minitia: { type: 'minievm', version: 'v1.0.0' } },
    };
    writeFileSync(join(folder, 'chain.json'), JSON.stringify(entry));
    const { steps } = await walk(everything(), '--json');
    const todo = steps['registry entry']?.todo.join('\n') ?? '';
    for (const words of [
      /colour is not known/,
      /nickname is not known/,
      /chain_name must match/,
      /bech32_prefix must be/,
      /fees.fee_tokens is empty/,
      /apis: rest is missing/,
      /apis: json-rpc is missing/,
      /chain_id is "other-1", and "myrollup-1" is right/,
      /evm_chain_id is 5, and/,
      /op_bridge_id is "8", and "7" is right/,
      /version is "v1.0.0", and "v1.2.18" is right/,
      /network_type is "testnet", and "mainnet" is right/,
    ]) {
      assert.match(todo, words);
    }
    writeFileSync(join(folder, 'chain.json'), '{"chain_name":');
    const broken = (await walk(everything(), '--json')).steps['registry entry'];
    assert.match(broken?.todo.join() ?? '', /no JSON/);
  });

  it('raises an alarm for a contract that the L1 does not expect', async () => {
    const SCORE_CONTRACT = await deployKind(anvil, 'ours', 12n);
    l1.state.bridges = [{ bridge_id: 7n, version: 1n, init_stage: 10n, vip_l2_score_contract: addressOf(9) }];
    const env = { ...everything(), SCORE_CONTRACT, DEPLOYER_ADDRESS: anvil.accounts[4]?.address as string };
    const { steps } = await walk(env, '--json');
    const contract = steps['scoring contract'];
    assert.equal(contract?.state, 'wrong');
    const said = contract?.facts.join('\n') ?? '';
    assert.match(said, /its first stage is 12, and the L1 expects scores from stage 10 on/);
    assert.match(said, /the L1 has another contract registered/);
    assert.match(said, /is not on its allow list/);
    assert.equal(process.exitCode, 1);
  });

  it('says that a contract is behind, that there is none, and that a tool is of another version', async () => {
    const SCORE_CONTRACT = await deployKind(anvil, 'lenient', 9n);
    const behind = (await walk({ ...everything(), SCORE_CONTRACT }, '--json')).steps['scoring contract'];
    assert.equal(behind?.state, 'done');
    assert.match(behind?.facts.join() ?? '', /does not have stage 12 yet/);
    const none = (await walk({ ...everything(), SCORE_CONTRACT: addressOf(5) }, '--json')).steps[
      'scoring contract'
    ];
    assert.match(none?.facts.join() ?? '', /there is no contract/);
    const other = (await walk({ ...everything(), ROLLUP_TOOL: toolOf('v1.1.0') }, '--json')).steps;
    assert.equal(Object.values(other)[0]?.state, 'wrong');
  });

  it('goes on when parts do not answer', async () => {
    l1.fault = 'html';
    routes = {};
    try {
      const { steps } = await walk(everything(), '--json');
      assert.equal(Object.keys(steps).length, 9);
      assert.equal(steps['EVM chain id']?.state, 'done');
      assert.match(steps['current stage of the program']?.facts.join() ?? '', /no JSON|HTTP/);
    } finally {
      l1.fault = 'none';
    }
  });
});
