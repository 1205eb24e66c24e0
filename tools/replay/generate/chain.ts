import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { emptyBlock, type RpcBlock, sha256 } from '../empty.js';
import { loadRecording } from '../recording.js';
import { nanoseconds, rfc3339 } from '../time.js';
import type { BlockBodies, ChainSource } from '../types.js';
import {
  digest,
  type GenerateOptions,
  type Kind,
  makeWorld,
  type Plan,
  planOf,
  tokenUri,
  txsOf,
  type World,
} from './plan.js';
import { word256 } from './recognise.js';
import { generatedState } from './state.js';
import { fill, makeTemplates, type Template, type Values } from './template.js';

/** Contracts of the recorded EVM chain that the first token and the first collection stand for. */
const recorded = {
  token: 'e7f1725e7734ce288f8367e1bb143e90bb3f0512',
  collection: 'cf7ed3acca5a467e9e704c703e8d87f634fb0fc9',
};

/** A generated chain, and what is needed to say what is in it. */
export interface GeneratedChain extends ChainSource {
  world: World;
  templates: Map<Kind, Template>;
}

/** One generated tx in every form. */
export interface GeneratedTx {
  plan: Plan;
  template: Template;
  /** SHA-256 of the raw bytes, upper-case hex */
  hash: string;
  /** lower-case hex with 0x; undefined when there is no receipt */
  ethHash: string | undefined;
  raw64: string;
  decoded: string;
  result: string;
  receipt: string | undefined;
  trace: string | undefined;
}

/**
 * A chain made of recorded EVM txs with new accounts, amounts, keys, signatures and hashes. Each block is made
 * when it is asked for, from nothing but the options and its height. What stays as recorded: gas, sequences,
 * Bloom filters, and the inside of traces that is not about accounts or amounts.
 */
export function generateChain(options: GenerateOptions = {}): GeneratedChain {
  const recording = loadRecording('evm');
  const templates = makeTemplates(recording);
  const world = makeWorld(options, recorded);
  const { blocks, seed, block_time_ms } = world.options;
  const chainId = `generated-${seed}`;
  const end = recording.bodies(recording.last)!;
  const lastBlock = JSON.parse(end.block) as RpcBlock;
  lastBlock.block.header['chain_id'] = chainId;
  const lastResults = JSON.parse(end.results) as Record<string, unknown>;
  const start = nanoseconds(recording.bodies(1)!.time);
  const recent = new LRUCache<number, BlockBodies>({ max: 300 });

  const hash = (height: number): string => (height < 1 ? '' : sha256(`${chainId}/${height}`));
  const time = (height: number): string => {
    const jitter = BigInt(Number.parseInt(digest(`${seed}/time/${height}`).slice(0, 6), 16));
    return rfc3339(start + BigInt(height) * BigInt(block_time_ms) * 1_000_000n + jitter);
  };

  const bodies = (height: number): BlockBodies | undefined => {
    if (height < 1 || height > blocks) return undefined;
    const known = recent.get(height);
    if (known) return known;
    const parentHash = hash(height - 1);
    const parent = {
      height: height - 1,
      hash: parentHash,
      partsHash: parentHash === '' ? '' : sha256(`parts/${parentHash}`),
      time: time(Math.max(1, height - 1)),
    };
    const frame = emptyBlock({ block: lastBlock, results: lastResults }, parent, hash(height), time(height));
    const made = withTxs(frame, blockTxs(world, templates, height));
    recent.set(height, made);
    return made;
  };

  return {
    world,
    templates,
    chainId,
    first: 1,
    last: blocks,
    evm: true,
    status: recording.status,
    abciInfo: recording.abciInfo,
    bodies,
    state: generatedState(world, recording),
    // a look-up by hash would need the whole chain made; indexers do not ask
    findTx: () => undefined,
  };
}

/** The txs of a block in order. */
export function blockTxs(world: World, templates: Map<Kind, Template>, height: number): GeneratedTx[] {
  const { from, count } = txsOf(world, height);
  const { seed } = world.options;
  const blockHash = digest(`${seed}/evm block/${height}`);
  const txs: GeneratedTx[] = [];
  let position = 0;
  let logIndex = 0;
  let gas = 0;
  for (let index = from; index < from + count; index++) {
    const plan = planOf(world, index);
    const template = templates.get(plan.kind)!;
    if (template.receipt) {
      position++;
      gas += template.gasUsed;
    }
    const values = valuesOf(seed, plan, template);
    values.blockHash = blockHash;
    values.blockNumber = `"blockNumber":"0x${height.toString(16)}"`;
    values.transactionIndex = `"transactionIndex":"0x${position.toString(16)}"`;
    values.cumulativeGas = `"cumulativeGasUsed":"0x${gas.toString(16)}"`;
    for (let i = 0; i < template.logs; i++)
      values[`log${i}`] = `"logIndex":"0x${(logIndex + i).toString(16)}"`;
    logIndex += template.logs;
    const raw = Buffer.from(fill(template.raw, values), 'latin1');
    txs.push({
      plan,
      template,
      hash: createHash('sha256').update(raw).digest('hex').toUpperCase(),
      ethHash: template.receipt ? `0x${values.ethHash}` : undefined,
      raw64: raw.toString('base64'),
      decoded: fill(template.decoded, values),
      result: fill(template.result, values),
      receipt: template.receipt ? fill(template.receipt, values) : undefined,
      trace: template.trace ? fill(template.trace, values) : undefined,
    });
  }
  return txs;
}

function valuesOf(seed: number, plan: Plan, template: Template): Values {
  const { signer, other, contract, value } = plan;
  const signature = Buffer.from(
    digest(`${seed}/r/${plan.index}`) + digest(`${seed}/s/${plan.index}`) + (plan.index % 2 ? '01' : '00'),
    'hex',
  );
  const values: Values = {
    signerHex: signer.hex,
    signerSum: signer.checksummed,
    signerBech: signer.bech32,
    otherHex: other.hex,
    otherSum: other.checksummed,
    otherBech: other.bech32,
    key: signer.key,
    key64: signer.key64,
    signature: signature.toString('latin1'),
    signature64: signature.toString('base64'),
    contractHex: contract.hex,
    contractSum: contract.checksummed,
    valueHex: word256(value),
    valueWord: `0x${word256(value)}`,
    valueDec: String(value),
    valueRaw: `\u0004${value}`,
    valueMember: `"value":"${value}"`,
    valueQuantity: `"value":"0x${value.toString(16)}"`,
    uri: Buffer.from(tokenUri(value)).toString('hex'),
    ethHash: digest(`${seed}/eth/${plan.index}`),
  };
  if (template.data) values.data64 = Buffer.from(fill(template.data, values), 'latin1').toString('base64');
  return values;
}

function withTxs(frame: BlockBodies, txs: GeneratedTx[]): BlockBodies {
  if (txs.length === 0) return frame;
  const raw = JSON.stringify(txs.map((t) => t.raw64));
  const dataHash = sha256(txs.map((t) => t.hash).join());
  return {
    ...frame,
    block: frame.block
      .replace('"data":{"txs":[]}', () => `"data":{"txs":${raw}}`)
      .replace(/"data_hash":"[0-9A-F]*"/, `"data_hash":"${dataHash}"`),
    results: frame.results.replace(
      '"txs_results":null',
      () => `"txs_results":[${txs.map((t) => t.result).join(',')}]`,
    ),
    txs: txs.map((t) => t.decoded),
    txCount: txs.length,
    receipts: `[${txs.flatMap((t) => t.receipt ?? []).join(',')}]`,
    traces: `[${txs.flatMap((t) => t.trace ?? []).join(',')}]`,
  };
}
