import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AbiCoder, concat, type JsonFragment } from 'ethers';
import { packageRoot } from '../../common/paths.js';

/** A compiled contract as contracts/build.mjs writes it. */
export interface Artifact {
  readonly contract: string;
  readonly source: string;
  readonly compiler: { readonly name: string; readonly version: string; readonly settings: unknown };
  readonly abi: readonly JsonFragment[];
  /** 0x hex of the code that makes the contract, without arguments. */
  readonly bytecode: string;
}

/** Our own scoring contract, or another artifact below contracts/. */
export function readArtifact(file = 'artifacts/ScoreContract.json'): Artifact {
  return JSON.parse(readFileSync(join(packageRoot, 'contracts', file), 'utf8')) as Artifact;
}

/** The data of the tx that deploys our contract. */
export function deployData(artifact: Artifact, init_stage: bigint): string {
  return concat([artifact.bytecode, AbiCoder.defaultAbiCoder().encode(['uint64'], [init_stage])]);
}
