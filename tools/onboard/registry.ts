import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { asObject } from '../../services/scoring-operator/l1/stage.js';
import { known, type OnboardFacts } from './facts.js';

/** The registry entry of a rollup, as far as what was looked at says. What is not known is left out. */
export function draftEntry(facts: OnboardFacts): Record<string, unknown> {
  const { config } = facts;
  const rollup = known(facts.rollup);
  const fees = known(facts.fees);
  const evm_chain_id = known(facts.evm_chain_id);
  const list = (urls: readonly string[]): { address: string }[] => urls.map((address) => ({ address }));
  const websocket = config.JSON_RPC_WS_URL === '' ? [] : [config.JSON_RPC_WS_URL];
  return {
    $schema: '../../chain.schema.json',
    chain_name: (rollup?.chain_id ?? '')
      .replace(/-\d+$/, '')
      .toLowerCase()
      .replace(/[^a-z0-9]/g, ''),
    ...(rollup === undefined ? {} : { pretty_name: rollup.chain_id, chain_id: rollup.chain_id }),
    ...(evm_chain_id === undefined ? {} : { evm_chain_id: Number(evm_chain_id) }),
    bech32_prefix: config.ACCOUNT_ADDRESS_PREFIX,
    network_type: config.NETWORK,
    key_algos: ['initia_ethsecp256k1', 'secp256k1'],
    slip44: 60,
    fees: {
      fee_tokens:
        fees === undefined ? [] : [{ denom: fees.denom, fixed_min_gas_price: Number(fees.min_gas_price) }],
    },
    apis: {
      rpc: list(config.RPC_URL),
      rest: list(config.REST_URL),
      'json-rpc': list(config.JSON_RPC_URL),
      'json-rpc-websocket': list(websocket),
    },
    metadata: {
      ...(known(facts.bridge_id) === undefined ? {} : { op_bridge_id: String(known(facts.bridge_id)) }),
      op_denoms: [],
      ...(rollup === undefined ? {} : { minitia: { type: 'minievm', version: rollup.version } }),
    },
  };
}

/** What is wrong with an entry: by the schema, and against what the rollup and the L1 say. */
export function checkEntry(text: string, facts: OnboardFacts): string[] {
  let entry: unknown;
  try {
    entry = JSON.parse(text);
  } catch (error) {
    return [`it is no JSON: ${(error as Error).message}`];
  }
  const schema = JSON.parse(readFileSync(join(packageRoot, 'tools/onboard/chain.schema.json'), 'utf8'));
  const validate = new Ajv2020({ allErrors: true, strict: false }).compile(schema);
  const mistakes = validate(entry)
    ? []
    : (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if').map(inWords);
  return [...new Set([...mistakes, ...compare(asObject(entry), facts)])];
}

function inWords({ instancePath, keyword, params, message }: ErrorObject): string {
  const at = instancePath === '' ? 'the entry' : instancePath.slice(1).replaceAll('/', '.');
  if (keyword === 'additionalProperties') return `${at}: ${params['additionalProperty']} is not known there`;
  if (keyword === 'required') return `${at}: ${params['missingProperty']} is missing`;
  if (keyword === 'enum') return `${at} must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`;
  if (keyword === 'minItems') return `${at} is empty`;
  if (keyword === 'pattern' && params['pattern'] === '^https://.') return `${at} must be a public https URL`;
  return `${at} ${message}`;
}

function compare(entry: Record<string, unknown>, facts: OnboardFacts): string[] {
  const metadata = asObject(entry['metadata']);
  const pairs: [string, unknown, unknown][] = [
    ['chain_id', entry['chain_id'], known(facts.rollup)?.chain_id],
    ['evm_chain_id', entry['evm_chain_id'], numberOf(known(facts.evm_chain_id))],
    ['metadata.op_bridge_id', metadata['op_bridge_id'], known(facts.bridge_id)?.toString()],
    ['metadata.minitia.version', asObject(metadata['minitia'])['version'], known(facts.rollup)?.version],
    ['network_type', entry['network_type'], facts.config.NETWORK],
  ];
  return pairs
    .filter(([, said, is]) => said !== undefined && is !== undefined && said !== is)
    .map(([name, said, is]) => `${name} is ${JSON.stringify(said)}, and ${JSON.stringify(is)} is right`);
}

const numberOf = (value: bigint | undefined): number | undefined =>
  value === undefined ? undefined : Number(value);
