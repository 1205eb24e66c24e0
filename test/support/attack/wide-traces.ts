import { decodeTraces } from '../../../services/tx/decode/traces.js';
import type { DecodedBlock } from '../../../services/tx/decode/types.js';
import type { DecodedTrace } from '../../../services/tx/store/rows.js';

/** The account of a number. */
export const address = (number: number): string => number.toString(16).padStart(40, '0');

/** A block without txs. */
export const emptyBlock = (height: number): DecodedBlock => ({
  ...{ height, hash: `H${height}`, parent_hash: height === 1 ? '' : `H${height - 1}` },
  ...{ timestamp: '2026-11-21T09:20:10Z', txs: [], evm_txs: [], stores: [], problems: [] },
});

/** A trace of one tx: a call that makes so many others, each from and to one of so many accounts. */
export function wideTrace(frames: number, accounts: number): string {
  const call = (index: number): string =>
    `{"from":"0x${address(index % accounts)}","to":"0x${address((index * 7) % accounts)}","type":"CALL","gas":"0x1","gasUsed":"0x1","input":"0x","value":"0x0"`;
  const calls = Array.from({ length: frames - 1 }, (_, index) => `${call(index + 1)}}`);
  return `[{"txHash":"0x${'e'.repeat(64)}","result":${call(0)},"calls":[${calls.join(',')}]}}]`;
}

/** A trace as it is written. */
export const traceOf = (height: number, text: string): DecodedTrace => ({
  ...{ height, hash: `H${height}`, length: text.length },
  frames: decodeTraces(height, text),
});
