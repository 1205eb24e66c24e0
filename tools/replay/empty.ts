import { createHash } from 'node:crypto';
import type { BlockBodies } from './types.js';

/** SHA-256 of nothing: what CometBFT writes as data, results and evidence hash of an empty block. */
const emptyHash = 'E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855';

/** What is needed of the block before. */
export interface Parent {
  height: number;
  hash: string;
  partsHash: string;
  time: string;
}

/** The parts of an RPC block that its followers repeat. */
export interface RpcBlock {
  block_id: { hash: string; parts: { total: number; hash: string } };
  block: {
    header: Record<string, unknown> & { proposer_address: string };
    data: { txs: string[] | null };
    evidence: unknown;
    last_commit: { signatures: Record<string, unknown>[] } & Record<string, unknown>;
  };
}

/** Upper-case hex SHA-256 of a text. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex').toUpperCase();
}

/**
 * The hash of a block the recording does not have: a function of chain, height and fork only, so that a node
 * started again goes on with the same chain without computing every block before.
 */
export function emptyBlockHash(chainId: string, height: number, fork: number): string {
  return sha256(`${chainId}/${height}/${fork}`);
}

/**
 * An empty block after `parent`, in the shape of `template` (the last recorded block and its results): same
 * proposer and validators, its own hash, the parent's hash in last_block_id.
 */
export function emptyBlock(
  template: { block: RpcBlock; results: Record<string, unknown> },
  parent: Parent,
  hash: string,
  time: string,
): BlockBodies {
  const height = parent.height + 1;
  const { header, last_commit } = template.block.block;
  const partsHash = sha256(`parts/${hash}`);
  const parentId = { hash: parent.hash, parts: { total: 1, hash: parent.partsHash } };
  const block: RpcBlock = {
    block_id: { hash, parts: { total: 1, hash: partsHash } },
    block: {
      header: {
        ...header,
        height: String(height),
        time,
        last_block_id: parentId,
        last_commit_hash: sha256(`commit/${parent.hash}`),
        data_hash: emptyHash,
        app_hash: Buffer.from(String(template.results['app_hash'] ?? ''), 'base64')
          .toString('hex')
          .toUpperCase(),
        last_results_hash: emptyHash,
        evidence_hash: emptyHash,
      },
      data: { txs: [] },
      evidence: { evidence: [] },
      last_commit: {
        ...last_commit,
        height: String(parent.height),
        round: 0,
        block_id: parentId,
        signatures: last_commit.signatures.map((s) => ({ ...s, timestamp: parent.time })),
      },
    },
  };
  const results = { ...template.results, height: String(height), txs_results: null };
  return {
    height,
    hash,
    partsHash,
    time,
    block: JSON.stringify(block),
    results: JSON.stringify(results),
    txs: [],
    txCount: 0,
    receipts: '[]',
    traces: '[]',
  };
}

/** The same block with another hash and another parent: a block of a fork that has the same txs. */
export function rehash(bodies: BlockBodies, parent: Parent, hash: string): BlockBodies {
  const block = JSON.parse(bodies.block) as RpcBlock;
  const partsHash = sha256(`parts/${hash}`);
  const parentId = { hash: parent.hash, parts: { total: 1, hash: parent.partsHash } };
  block.block_id = { hash, parts: { total: 1, hash: partsHash } };
  block.block.header['last_block_id'] = parentId;
  block.block.last_commit['block_id'] = parentId;
  return { ...bodies, hash, partsHash, block: JSON.stringify(block) };
}
