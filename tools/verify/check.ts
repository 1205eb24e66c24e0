import type { Endpoints } from '../../services/common/chain/endpoints.js';
import type { Api } from './api.js';

/** Something that the index and the node say differently. */
export interface Difference {
  /** What it is about, e.g. `block 12` or `tx 3F...`. */
  readonly what: string;
  /** Which part of it, e.g. `tx_count`. */
  readonly part: string;
  /** As the HTTP API shows it; undefined where it shows nothing. */
  readonly index: string | undefined;
  /** As the node says it now; undefined where it says nothing. */
  readonly node: string | undefined;
}

/** What checks ask. */
export interface Sides {
  readonly api: Api;
  readonly rpc: Endpoints;
  readonly rest: Endpoints;
  readonly json_rpc: Endpoints;
  readonly vm_type: string;
  /** Prefix of bech32 accounts. */
  readonly account_prefix: string;
  /** Last height whose internal txs are indexed. */
  readonly internal_tx_height: number;
  /** Height of the rich list. */
  readonly rich_list_height: number;
  readonly signal: AbortSignal;
}

/** What a check found. */
export interface Findings {
  /** How many things were compared. */
  readonly compared: number;
  readonly differences: readonly Difference[];
  /** What differs through no fault of the index: the chain contradicts itself. */
  readonly notes?: readonly string[];
}

/** Compares one height. A check is one file; a new one is added to `checks/index.ts`. */
export interface HeightCheck {
  /** What is compared, in the plural: `blocks`. */
  readonly name: string;
  readonly appliesTo: (sides: Sides) => boolean;
  readonly run: (sides: Sides, height: number) => Promise<Findings>;
}

/** Compares state that is not of a height: who owns what now. */
export interface StateCheck {
  readonly name: string;
  readonly appliesTo: (sides: Sides) => boolean;
  /** @param most how many items to compare; undefined for all. */
  readonly run: (sides: Sides, most: number | undefined) => Promise<Findings>;
}

/** A difference for each part that is not the same on both sides. */
export function differencesOf(
  what: string,
  parts: Readonly<Record<string, readonly [index: unknown, node: unknown]>>,
): Difference[] {
  return Object.entries(parts)
    .map(([part, [index, node]]) => ({ what, part, index: shown(index), node: shown(node) }))
    .filter(({ index, node }) => index !== node);
}

/** A value as it is printed. */
function shown(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Longest value of a line: a byte code of 20 kB helps nobody. */
const longest = 200;

/** `block 12: tx_count: index 3, node 4` */
export function lineOf({ what, part, index, node }: Difference): string {
  const side = (value: string | undefined): string =>
    value === undefined ? 'nothing' : value.length > longest ? `${value.slice(0, longest)}...` : value;
  return `${what}: ${part}: index ${side(index)}, node ${side(node)}`;
}

/** Compares two lists of names as sets, and their order when the sets are equal. */
export function compareNames(
  what: string,
  part: string,
  index: readonly string[],
  node: readonly string[],
): Difference[] {
  const [ours, theirs] = [new Set(index), new Set(node)];
  const differences = [
    ...node.filter((name) => !ours.has(name)).map((name) => ({ what, part, index: undefined, node: name })),
    ...index
      .filter((name) => !theirs.has(name))
      .map((name) => ({ what, part, index: name, node: undefined })),
  ];
  if (differences.length > 0) return differences;
  return differencesOf(what, { [`${part}, in order`]: [index, node] });
}
