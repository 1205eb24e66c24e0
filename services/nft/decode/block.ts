import { createHash } from 'node:crypto';
import { parseAccount } from '../../common/chain/address.js';
import { isObject, parseEvents, type TxEvent } from '../../common/chain/events.js';
import type { BlockMaterial, TxMaterial } from '../../common/gen/indexer/block/v1/block.js';
import { messageOf } from '../../common/runtime/errors.js';
import type { DecodeProblem } from '../../common/runtime/log.js';
import { defaultTextLimits, limited } from '../text-limits.js';
import { decodeEvmEvents } from './evm.js';
import { decodePackets } from './ibc.js';
import { decodeMoveEvents } from './move.js';
import type { BlockHead, DecodeOptions, Happening, NftBlock, NftEvent, TxRef } from './types.js';
import { decodeWasmEvents } from './wasm.js';

/**
 * Everything that a block says of NFTs, in order. Pure and synchronous, and it never throws:
 * what cannot be read is left out and described in `problems`. Failed txs changed nothing.
 */
export function decodeBlock(head: BlockHead, material: BlockMaterial, options: DecodeOptions): NftBlock {
  const { height, hash, parent_hash, timestamp } = head;
  const { limits = defaultTextLimits } = options;
  const events: NftEvent[] = [];
  const problems: DecodeProblem[] = [];
  const read = (txEvents: readonly TxEvent[], tx: TxRef): void => {
    const happenings: Happening[] = [];
    const sink = {
      add: (happening: Happening) => happenings.push(happening),
      problem: (source: string, reason: string) => problems.push({ source, reason }),
    };
    try {
      decodePackets(txEvents, sink);
      if (options.vm === 'evm') decodeEvmEvents(txEvents, sink);
      else if (options.vm === 'move') decodeMoveEvents(txEvents, sink);
      else decodeWasmEvents(txEvents, options.account_prefix, sink);
    } finally {
      // At the end, since on Move a later event says the uri of a mint.
      for (const happening of happenings) {
        const kept = limited(happening, limits, (problem) => problems.push(problem));
        if (kept !== undefined) events.push(Object.assign(kept, { tx, index: events.length }));
      }
    }
  };
  for (const tx of material.txs) {
    try {
      const succeeded = eventsOfTx(tx);
      if (succeeded !== undefined) read(succeeded, txRef(tx, succeeded, options));
    } catch (error) {
      problems.push({ source: 'a tx', reason: messageOf(error) });
    }
  }
  try {
    read(parseEvents(JSON.parse(material.block_events.toString('utf8') || '[]')), { hash: '', signer: '' });
  } catch (error) {
    problems.push({ source: 'block events', reason: messageOf(error) });
  }
  return { height, hash, parent_hash, timestamp, events, problems };
}

/** The events of a tx; undefined when it failed. */
function eventsOfTx(tx: TxMaterial): TxEvent[] | undefined {
  const result: unknown = JSON.parse(tx.result.toString('utf8'));
  if (!isObject(result)) throw new Error('the result is no JSON object');
  const { code } = result;
  return code === undefined || code === 0 || code === null ? parseEvents(result['events']) : undefined;
}

function txRef(tx: TxMaterial, events: readonly TxEvent[], options: DecodeOptions): TxRef {
  const named = events
    .filter((event) => event.type === 'tx')
    .flatMap((event) => event.attributes)
    .find((attribute) => attribute.key === 'acc_seq');
  const signer = parseAccount(named?.value.split('/', 1)[0] ?? '', options.account_prefix) ?? '';
  return { hash: createHash('sha256').update(tx.raw).digest('hex'), signer };
}
