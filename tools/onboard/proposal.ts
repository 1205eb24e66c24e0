import { bech32 } from '@scure/base';
import type { Policy, Rule } from '../../services/scoring-operator/policy/policy.js';
import { known, type OnboardFacts } from './facts.js';

/** A text with what could not be filled in. */
export interface Proposal {
  readonly text: string;
  /** Names of what is left for a person. */
  readonly gaps: readonly string[];
}

/** The whitelist proposal for the forum, or, for a testnet, the message to the program's team. Markdown. */
export function writeProposal(facts: OnboardFacts): Proposal {
  const gaps: string[] = [];
  const fill = (name: string, value: string | undefined): string => {
    if (value !== undefined && value !== '') return value;
    gaps.push(name);
    return `TO BE FILLED IN (${name})`;
  };
  const { config } = facts;
  const rollup = known(facts.rollup);
  const loaded = known(facts.policy);
  const contract = known(facts.contract);
  const name = fill('name of the rollup', rollup?.chain_id.replace(/-\d+$/, ''));
  const title =
    config.NETWORK === 'mainnet'
      ? `# Proposal: whitelist ${name} for the rewards program`
      : `# ${name} on testnet: request to take part in the rewards program`;
  const rows = [
    ['Chain id', fill('chain id', rollup?.chain_id)],
    ['EVM chain id', fill('EVM chain id', known(facts.evm_chain_id)?.toString())],
    ['Version', fill('version', rollup?.version)],
    ['Bridge id', fill('bridge id', known(facts.bridge_id)?.toString())],
    ['Operator address', fill('operator address', operatorText(facts))],
    ['Scoring contract', fill('scoring contract', facts.contract_address)],
    ['First stage', fill('first stage', contract?.init_stage?.toString())],
  ];
  const policy =
    loaded === undefined
      ? fill('scoring policy', undefined)
      : `${describe(loaded.policy)}\n\nThe policy in full, as it is computed:\n\n\`\`\`yaml\n${loaded.text.trimEnd()}\n\`\`\``;
  const text = [
    title,
    `## The rollup\n\n| | |\n|---|---|\n${rows.map(([a, b]) => `| ${a} | ${b} |`).join('\n')}`,
    `## How users are scored\n\n${policy}`,
    '## How scores are written\n\nFor each stage the operator computes every score from the indexed blocks of that stage, writes them into the contract, reads them back, and finalizes the stage after it has ended on the L1.',
  ];
  return { text: `${text.join('\n\n')}\n`, gaps };
}

/** The operator's account in both spellings; undefined when there is none, or it is no account. */
export function operatorText({ config }: OnboardFacts): string | undefined {
  const account = readAccount(config.OPERATOR_ADDRESS, config.ACCOUNT_ADDRESS_PREFIX);
  return account && `${account.bech32} (${account.hex})`;
}

/** An account of 20 bytes in both spellings; undefined for anything else. */
export function readAccount(text: string, prefix: string): { bech32: string; hex: string } | undefined {
  const hex = /^0x[0-9a-f]{40}$/i.test(text) ? text.slice(2).toLowerCase() : hexOfBech32(text, prefix);
  if (hex === undefined) return undefined;
  return { hex: `0x${hex}`, bech32: bech32.encode(prefix, bech32.toWords(Buffer.from(hex, 'hex')), 90) };
}

function hexOfBech32(text: string, prefix: string): string | undefined {
  const decoded = bech32.decodeUnsafe(text, 90);
  const bytes = decoded?.prefix === prefix ? bech32.fromWordsUnsafe(decoded.words) : undefined;
  return bytes && bytes.length === 20 ? Buffer.from(bytes).toString('hex') : undefined;
}

function describe({ name, description, rules }: Policy): string {
  const lines = rules.map((rule) => `- **${rule.name}**: ${subjects[rule.kind]}`);
  return [description === '' ? name : description, lines.join('\n')]
    .filter((part) => part !== '')
    .join('\n\n');
}

const subjects: Readonly<Record<Rule['kind'], string>> = {
  transactions: 'transactions sent',
  gas_used: 'gas used',
  calls: 'calls of contracts',
  volume: 'volume moved of a token',
  holdings: 'holdings of a token',
  nfts: 'NFTs held',
  source: 'a list of our own',
};
