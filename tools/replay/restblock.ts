import { bech32 } from '@scure/base';
import type { RpcBlock } from './empty.js';
import { protoTime } from './time.js';

const flags = ['UNKNOWN', 'ABSENT', 'COMMIT', 'NIL'];

/**
 * The members `block_id` and `block` of a REST answer, as text, from the RPC's `result` of the same block:
 * hashes in base64 instead of hex, an empty hash as null, parts as part_set_header, flags by name, times with
 * 0, 3, 6 or 9 fraction digits.
 */
export function restBlock(result: string): string {
  const { block_id, block } = JSON.parse(result) as RpcBlock;
  return `"block_id":${JSON.stringify(blockId(block_id))},"block":${JSON.stringify(convert(block))}`;
}

/** The same with the SDK's variant (proposer as bech32), as `/cosmos/base/tendermint/v1beta1/blocks/{H}` has it. */
export function restBlockWithSdk(result: string, prefix: string): string {
  const { block } = JSON.parse(result) as RpcBlock;
  const converted = convert(block);
  const words = bech32.toWords(Buffer.from(block.header.proposer_address, 'hex'));
  const header = { ...converted.header, proposer_address: bech32.encode(`${prefix}valcons`, words) };
  return `{${restBlock(result)},"sdk_block":${JSON.stringify({ ...converted, header })}}`;
}

function convert(block: RpcBlock['block']): { header: Record<string, unknown> } & Record<string, unknown> {
  const header = Object.fromEntries(
    Object.entries(block.header).map(([name, value]) => {
      if (name === 'version') return [name, { block: '11', app: '0', ...(value as object) }];
      if (name === 'last_block_id') return [name, blockId(value as RpcBlock['block_id'])];
      if (name === 'time') return [name, protoTime(value as string)];
      return [name, /_hash$|_address$/.test(name) ? base64(value as string) : value];
    }),
  );
  const { last_commit } = block;
  return {
    header,
    data: { txs: block.data.txs ?? [] },
    evidence: block.evidence,
    last_commit: {
      ...last_commit,
      block_id: blockId(last_commit['block_id'] as RpcBlock['block_id']),
      signatures: last_commit.signatures.map((s) => ({
        ...s,
        block_id_flag: `BLOCK_ID_FLAG_${flags[Number(s['block_id_flag'])] ?? 'UNKNOWN'}`,
        timestamp: protoTime(String(s['timestamp'])),
        validator_address: base64(String(s['validator_address'])),
      })),
    },
  };
}

function blockId(id: RpcBlock['block_id']): unknown {
  return { hash: base64(id.hash), part_set_header: { total: id.parts.total, hash: base64(id.parts.hash) } };
}

function base64(hex: string): string | null {
  return hex === '' ? null : Buffer.from(hex, 'hex').toString('base64');
}
