import { fetchStatus } from '../../services/common/chain/comet.js';
import { UserError } from '../../services/common/runtime/errors.js';
import { type Api, ApiUnavailable } from './api.js';
import { type Difference, type Findings, lineOf, type Sides } from './check.js';
import { heightChecks, stateChecks } from './checks/index.js';
import { heightsToCheck } from './heights.js';

/** What to compare. */
export interface VerifyOptions {
  readonly sides: Omit<Sides, 'internal_tx_height' | 'rich_list_height'>;
  /** First and last height; default: what both sides have. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** How many heights, and how many items of state; undefined for all. */
  readonly sample: number | undefined;
  /** Told each difference as a line. */
  readonly print: (line: string) => void;
  /** Told how many heights are compared, of how many. */
  readonly onProgress?: (done: number, of: number) => void;
}

/** What came of it: how much was compared and how much of that differs, by the name of a check. */
export type Summary = ReadonlyMap<
  string,
  { readonly compared: number; readonly different: number; readonly noted: number }
>;

/** Takes findings of a check into the summary, and prints them. */
type Add = (
  name: string,
  compared: number,
  differences: readonly Difference[],
  notes?: readonly string[],
) => void;

/** Heights that are compared at once. */
const atOnce = 4;

/**
 * Compares what is indexed with what the node says now, and prints every difference.
 *
 * @throws UserError for a range that there is nothing of; NodeError or ApiUnavailable when a
 *   side does not answer.
 */
export async function verify(options: VerifyOptions): Promise<Summary> {
  const { print } = options;
  const summary = new Map<string, { compared: number; different: number; noted: number }>();
  const add: Add = (name, compared, differences, notes = []) => {
    const before = summary.get(name) ?? { compared: 0, different: 0, noted: 0 };
    summary.set(name, {
      compared: before.compared + compared,
      different: before.different + differences.length,
      noted: before.noted + notes.length,
    });
    for (const difference of differences) print(lineOf(difference));
    for (const note of notes) print(`note: ${note}`);
  };

  const { sides, from, to } = await rangeOf(options, add);
  const heights = heightsToCheck(from, to, options.sample);
  const checks = heightChecks.filter((check) => check.appliesTo(sides));
  for (let start = 0; start < heights.length && !sides.signal.aborted; start += atOnce) {
    const found = await Promise.all(
      heights
        .slice(start, start + atOnce)
        .map((height) =>
          Promise.all(
            checks.map(
              async (check) =>
                [
                  check.name,
                  await holesAsDifferences(sides.api, `${check.name} of block ${height}`, () =>
                    check.run(sides, height),
                  ),
                ] as const,
            ),
          ),
        ),
    );
    for (const [name, { compared, differences }] of found.flat()) add(name, compared, differences);
    options.onProgress?.(Math.min(start + atOnce, heights.length), heights.length);
  }
  for (const check of stateChecks.filter((each) => each.appliesTo(sides))) {
    const { compared, differences, notes } = await holesAsDifferences(sides.api, check.name, () =>
      check.run(sides, options.sample),
    );
    // An index without the service that has it is not one that has nothing wrong.
    if (compared + differences.length > 0) add(check.name, compared, differences, notes);
  }
  return summary;
}

/**
 * An index that misses a row may fail to answer what needs it: that is a difference, as long as
 * it answers at all.
 */
async function holesAsDifferences(api: Api, what: string, run: () => Promise<Findings>): Promise<Findings> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ApiUnavailable) || !error.isAnswered) throw error;
    await api.get('/status');
    const difference = { what, part: 'answer', index: error.message, node: 'answers' };
    return { compared: 0, differences: [difference] };
  }
}

interface Status {
  readonly chain_id: string;
  readonly height: number;
  readonly internal_tx_height: number;
  readonly rich_list_height: number;
}

/** What both sides have; that they are of one chain, and that the index is not above the node, is compared here. */
async function rangeOf(
  options: VerifyOptions,
  add: Add,
): Promise<{ sides: Sides; from: number; to: number }> {
  const { api, rpc, signal } = options.sides;
  const [status, node] = await Promise.all([api.get<Status>('/status'), fetchStatus(rpc, signal)]);
  if (status === undefined) throw new UserError('the API has no /status: is it the base URL of an index?');
  if (status.chain_id !== node.network)
    throw new UserError(`the index is of chain ${status.chain_id}, the node of ${node.network}`);
  const [oldest] = await api.list<{ height: string }>('/indexer/block/v1/blocks', 'blocks', 1);
  if (oldest === undefined) throw new UserError('nothing is indexed yet');
  const wanted = options.to ?? status.height;
  // A node that is rolled back, or that is another one behind the same name, ends below the index.
  if (wanted <= status.height && node.latest_height < wanted)
    add('blocks', 0, [
      { what: 'the chain', part: 'last height', index: String(wanted), node: String(node.latest_height) },
    ]);
  const first = Math.max(Number(oldest.height), node.earliest_height);
  const from = options.from ?? first;
  const to = Math.min(wanted, node.latest_height);
  if (from > wanted) throw new UserError(`--from ${from} is above the last height, ${wanted}`);
  if (from < first)
    throw new UserError(
      `--from ${from} is below what both have: the index begins at ${oldest.height}, the node at ${node.earliest_height}`,
    );
  if (wanted > status.height)
    throw new UserError(`--to ${wanted} is above the last indexed block, ${status.height}`);
  const { internal_tx_height, rich_list_height } = status;
  return { sides: { ...options.sides, internal_tx_height, rich_list_height }, from, to };
}
