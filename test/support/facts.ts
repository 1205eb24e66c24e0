import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { packageRoot } from '../../services/common/runtime/paths.js';

/** The recordings that ship with the project. */
export const recordings = ['evm', 'move', 'wasm', 'wasm-hostile'] as const;

/** A recording's name. */
export type RecordingName = (typeof recordings)[number];

/** The virtual machine of a recording. */
export const vmOf = (name: RecordingName): string => name.split('-')[0] as string;

/** What is true of a tx. */
export interface TxFact {
  readonly height: number;
  readonly index: number;
  readonly hash: string;
  readonly code: number;
  readonly codespace: string;
  readonly msgs: readonly string[];
  readonly gas_wanted: number;
  readonly gas_used: number;
  readonly signers: readonly string[];
}

/** What is true of a recorded chain, as far as blocks and txs go. */
export interface Facts {
  readonly chain_id: string;
  readonly height: number;
  readonly txs_total: number;
  readonly txs_failed: number;
  readonly evm_txs_total?: number;
  readonly msg_type_counts: Readonly<Record<string, number>>;
  readonly txs: readonly TxFact[];
  /** A list of {hex, bech32} on EVM, by name with counts elsewhere. */
  readonly accounts: unknown;
  /** Addresses by name, on EVM. */
  readonly contracts?: unknown;
  /** Who holds how much of each denom at the end, largest first; on EVM. */
  readonly holders?: Readonly<
    Record<string, readonly { readonly account: string; readonly amount: string }[]>
  >;
}

/** Reads the facts of a recording. */
export function readFacts(name: RecordingName): Facts {
  const file = join(packageRoot, 'test/fixtures/recordings', name, 'facts.json.gz');
  return JSON.parse(gunzipSync(readFileSync(file)).toString()) as Facts;
}
