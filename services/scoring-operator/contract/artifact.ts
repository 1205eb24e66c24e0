import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AbiCoder, concat, Interface, type JsonFragment } from 'ethers';
import { packageRoot } from '../../common/runtime/paths.js';

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

/**
 * What is called, emitted and thrown by every kind of scoring contract. `ScoreOutOfRange` is
 * thrown by ours only; the others wrap instead.
 */
export const scoreInterface = new Interface([
  'function initStage() view returns (uint64)',
  'function stages(uint64) view returns (uint64 stage, uint64 totalScore, bool isFinalized)',
  'function scores(uint64, address) view returns (bool isIndexed, uint64 amount)',
  'function allowList(address) view returns (bool)',
  'function getScores(uint64 stage, uint64 offset, uint64 limit) view returns (tuple(address addr, uint64 amount, uint64 index)[])',
  'function updateScores(uint64 stage, address[] addrs, uint64[] amounts)',
  'function updateScore(uint64 stage, address addr, uint64 amount)',
  'function increaseScore(uint64 stage, address addr, uint64 amount)',
  'function decreaseScore(uint64 stage, address addr, uint64 amount)',
  'function finalizeStage(uint64 stage)',
  'function addAllowList(address account)',
  'function removeAllowList(address account)',
  'event CreateStage(uint64 stage)',
  'event FinalizeStage(uint64 stage)',
  'event UpdateScore(address indexed addr, uint64 indexed stage, uint64 score, uint64 totalScore)',
  'error PermissionDenied(address deniedAddress)',
  'error ZeroStage()',
  'error AddrsAndAmountsLengthMistmatch()',
  'error StageNotFound(uint64 stage)',
  'error StageFinalized(uint64 stage)',
  'error PreviousStageNotFinalized(uint64 stage)',
  'error ScoreOutOfRange(address addr, uint64 stage)',
  // What the compiler itself throws: require with words, and arithmetic.
  'error Error(string message)',
  'error Panic(uint256 code)',
]);
