import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../services/common/runtime/errors.js';
import type { Artifact } from '../../services/scoring-operator/contract/artifact.js';

/** A deployed contract, as it is written down. */
export interface DeployRecord {
  /** 0x hex with checksum. */
  readonly address: string;
  /** Decimal, as text: it may pass what JSON numbers hold. */
  readonly evm_chain_id: string;
  readonly init_stage: string;
  readonly deployer: string;
  readonly tx_hash: string;
  readonly height: number;
  readonly gas_used: string;
  readonly compiler: Artifact['compiler'];
}

/** A deployment on its way: written before the tx leaves, so that an interrupted one is not made twice. */
export interface PendingDeploy {
  readonly evm_chain_id: string;
  readonly init_stage: string;
  readonly deployer: string;
  readonly nonce: number;
  /** Every version that was signed; '' where a remote signer kept the hash to itself. */
  readonly tx_hashes: readonly string[];
  /** Where the contract will be: follows from deployer and nonce. */
  readonly address: string;
}

const prefixOf = (chain_id: bigint): string => `contract-${chain_id}-`;
const pendingFile = (folder: string, chain_id: bigint): string =>
  join(folder, `${prefixOf(chain_id)}pending.json`);

/** The records of a chain in a folder. @throws UserError for one that cannot be read */
export function readRecords(folder: string, chain_id: bigint): DeployRecord[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.startsWith(`${prefixOf(chain_id)}0x`) && name.endsWith('.json'))
    .sort()
    .map((name) => parse(join(folder, name)) as DeployRecord);
}

/** Writes a record; the file it is in. */
export function writeRecord(folder: string, record: DeployRecord): string {
  const path = join(folder, `${prefixOf(BigInt(record.evm_chain_id))}${record.address}.json`);
  writeWhole(folder, path, record);
  return path;
}

/** The deployment that was on its way when the last one ended; undefined for none. @throws UserError */
export function readPending(folder: string, chain_id: bigint): PendingDeploy | undefined {
  const path = pendingFile(folder, chain_id);
  return existsSync(path) ? (parse(path) as PendingDeploy) : undefined;
}

/** Writes down a deployment that is about to leave. */
export function writePending(folder: string, pending: PendingDeploy): void {
  writeWhole(folder, pendingFile(folder, BigInt(pending.evm_chain_id)), pending);
}

/** Forgets it: it came to an end, one way or the other. */
export function removePending(folder: string, chain_id: bigint): void {
  rmSync(pendingFile(folder, chain_id), { force: true });
}

/** All of a file or nothing of it, also when the process is killed while it writes. */
function writeWhole(folder: string, path: string, value: unknown): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${path}.new`, `${JSON.stringify(value, null, 2)}\n`, { flush: true });
  renameSync(`${path}.new`, path);
}

function parse(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UserError(`${path} cannot be read: ${(error as Error).message}`);
  }
}
