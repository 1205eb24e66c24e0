import type { BlockMaterial, RawBlock } from '../../common/gen/indexer/block/v1/block.js';
import { messageOf } from '../../common/runtime/errors.js';
import type { DecodeProblem } from '../../common/runtime/log.js';
import { parseInnerJson } from '../../common/util/bounded-input.js';
import { addLog, type Deltas, type Log, transferTopic } from './transfers.js';

/** What a block does to balances. */
export interface DecodedBlock {
  readonly height: number;
  /** Upper-case hex, as is the parent's. */
  readonly hash: string;
  readonly parent_hash: string;
  readonly deltas: Deltas;
  /** Contracts that were created in it, lower-case hex without 0x. */
  readonly created: ReadonlySet<string>;
  /** Parts that could not be read and were skipped. */
  readonly problems: readonly DecodeProblem[];
}

interface Event {
  readonly type?: unknown;
  readonly attributes?: readonly { readonly key?: unknown; readonly value?: unknown }[] | null;
}

const topic = Buffer.from(transferTopic);
const creation = Buffer.from('"contract_created"');

/**
 * Reads the balance changes of a block off the `evm` events of its txs and of the block
 * itself. They are the whole truth where receipts are not: a failed Cosmos tx pays its fee by
 * a log that is in its events and in no receipt, and txs and block hooks of other modules
 * (bank, IBC) move ERC-20s without being Ethereum txs.
 */
export function decodeBlock(block: RawBlock, material: BlockMaterial): DecodedBlock {
  const deltas: Deltas = new Map();
  const created = new Set<string>();
  const problems: DecodeProblem[] = [];
  const read = (where: string, text: Uint8Array, pick: (parsed: unknown) => unknown): void => {
    const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
    // Most of what is not a transfer is recognised without parsing it.
    if (!bytes.includes(topic) && !bytes.includes(creation)) return;
    try {
      readEvents(pick(JSON.parse(bytes.toString('utf8'))), deltas, created, (problem) =>
        problems.push(problem),
      );
    } catch (error) {
      problems.push({ source: where, reason: messageOf(error).slice(0, 200) });
    }
  };
  for (const tx of material.txs)
    read('a tx', tx.result, (result) => (result as { events?: unknown } | null)?.events);
  read('block events', material.block_events, (events) => events);
  return {
    height: block.height,
    hash: block.hash,
    parent_hash: block.parent_hash,
    deltas,
    created,
    problems,
  };
}

function readEvents(
  events: unknown,
  deltas: Deltas,
  created: Set<string>,
  onProblem: (problem: DecodeProblem) => void,
): void {
  for (const event of Array.isArray(events) ? (events as (Event | null)[]) : []) {
    const isLog = event?.type === 'evm';
    if (!isLog && event?.type !== 'contract_created') continue;
    for (const { key, value } of event?.attributes ?? []) {
      if (!isLog) {
        const contract = key === 'contract' && /^0x([0-9a-f]{40})$/.exec(String(value).toLowerCase())?.[1];
        if (contract) created.add(contract);
      } else if (key === 'log' && String(value).includes(transferTopic)) {
        const problem = readLog(String(value), deltas);
        if (problem !== undefined) onProblem(problem);
      }
    }
  }
}

/** One bad log must not take the others of its tx with it. */
function readLog(text: string, deltas: Deltas): DecodeProblem | undefined {
  try {
    const log = parseInnerJson(text) as Log | null;
    const reason = addLog(deltas, log);
    return reason === undefined ? undefined : { source: String(log?.address), reason };
  } catch (error) {
    return { source: 'a log', reason: messageOf(error).slice(0, 200) };
  }
}
