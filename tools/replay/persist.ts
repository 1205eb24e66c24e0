import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Fork } from './chain.js';

/** What a replay node must remember to go on with the same chain. */
export interface SavedState {
  chain_id: string;
  tip: number;
  forks: Fork[];
}

/** Reads the state file; undefined when there is none. Throws when it belongs to another chain or is damaged. */
export function readState(path: string | undefined, chainId: string): SavedState | undefined {
  if (!path) return undefined;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const state = JSON.parse(text) as SavedState;
  if (state.chain_id !== chainId) throw new Error(`${path} is about chain ${state.chain_id}, not ${chainId}`);
  return state;
}

/** Node's codes for a disk or a quota that is full. */
const isFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');

/**
 * Writes the state file whole or not at all. On a full disk the file stays as it is until the next change of the
 * state: a demo need not end for it.
 */
export function writeState(path: string | undefined, state: SavedState): void {
  if (!path) return;
  const next = `${path}.new`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(next, JSON.stringify(state));
    renameSync(next, path);
  } catch (error) {
    if (!isFull(error)) throw error;
    rmSync(next, { force: true });
  }
}
