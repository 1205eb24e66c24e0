import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { RichlistServiceClient } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { decodeBlock } from '../../services/richlist/decode/block.js';
import { addLog, type Deltas } from '../../services/richlist/decode/transfers.js';
import { readFacts } from '../support/facts.js';
import { recordedBlocks } from '../support/material.js';
import { recordedStack } from '../support/recorded-stack.js';
import { ask } from '../support/rpc.js';
import { startBefore } from '../support/suite.js';

interface Exchange {
  readonly api: string;
  readonly path: string;
  readonly height?: string | number;
  readonly requestBody?: string;
  readonly status: number;
  readonly body: string;
}

/** A balance as the recorded node itself told it. */
interface Told {
  readonly denom: string;
  readonly account: string;
  readonly height: number;
  readonly amount: string;
}

/** Every balance in the recording's exchanges: of the bank module at heights 1, 2 and the last, and of balanceOf. */
function toldBalances(last: number): Told[] {
  const file = join(packageRoot, 'tools/replay/recordings/evm/exchanges.jsonl.gz');
  const lines = gunzipSync(readFileSync(file)).toString().trim().split('\n');
  return lines
    .map((line) => JSON.parse(line) as Exchange)
    .filter(({ status }) => status === 200)
    .flatMap(({ path, height, requestBody, body }): Told[] => {
      const account = /\/bank\/v1beta1\/balances\/(init1\w+)/.exec(path)?.[1];
      const at = Number(height ?? 0) || last;
      if (account !== undefined) {
        const { balances } = JSON.parse(body) as { balances: { denom: string; amount: string }[] };
        // What is not listed is nothing.
        const gas = balances.find(({ denom }) => denom === 'GAS')?.amount ?? '0';
        return [...balances.filter(({ denom }) => denom !== 'GAS'), { denom: 'GAS', amount: gas }].map(
          (coin) => ({
            ...coin,
            account,
            height: at,
          }),
        );
      }
      const call = requestBody?.includes('0x70a08231') ? JSON.parse(requestBody) : undefined;
      const result =
        call?.method === 'eth_call' ? (JSON.parse(body) as { result?: string }).result : undefined;
      if (result?.length !== 66) return [];
      const [{ to, data, input }] = call.params as [{ to: string; data?: string; input?: string }];
      return [
        {
          denom: to,
          account: `0x${(data ?? input ?? '').slice(34)}`,
          height: last,
          amount: String(BigInt(result)),
        },
      ];
    });
}

describe('balances of the evm recording', () => {
  const facts = readFacts('evm');
  const stack = startBefore(() => recordedStack('evm'));

  it('are what the recorded node said, at every height that it was asked about', async () => {
    const client: RichlistServiceClient = stack.richlist;
    const told = toldBalances(facts.height);
    const heights = new Set(told.map(({ height }) => height));
    assert.deepEqual(
      [...heights].sort((a, b) => a - b),
      [1, 2, facts.height],
    );
    assert.ok(told.length > 200);
    const unknown = new Set<string>();
    for (const { denom, account, height, amount } of told) {
      if (/^0x0+$/.test(account)) continue;
      const request = { denom, account, height };
      const answer = await ask(client)
        .getBalance(request)
        .catch((error: { code: number }) => {
          assert.equal(error.code, 5);
          unknown.add(denom.toLowerCase());
          return { amount: '0' };
        });
      // Of an ERC-721 the number of tokens is told, and it has no holders here.
      const isNft = unknown.has(denom.toLowerCase());
      if (!isNft) assert.equal(answer.amount, amount, JSON.stringify(request));
    }
    const nfts = facts.contracts as Record<string, string>;
    for (const contract of unknown)
      assert.ok(
        ['art', 'art2', 'odd', 'bare'].some((name) => nfts[name]?.toLowerCase() === contract),
        contract,
      );
  });

  it('come from events: the fee of a failed Cosmos tx is in no receipt', () => {
    const missing: number[] = [];
    for (const block of recordedBlocks('evm').values()) {
      const { deltas, problems } = decodeBlock(
        { ...block, material: Buffer.alloc(0), material_bytes: 0 },
        block.material,
      );
      assert.deepEqual(problems, []);
      const inReceipts: Deltas = new Map();
      const receipts = JSON.parse(Buffer.from(block.material.receipts).toString() || '[]') as {
        logs: object[];
      }[];
      for (const log of receipts.flatMap(({ logs }) => logs)) addLog(inReceipts, log);
      try {
        assert.deepEqual(deltas, inReceipts);
      } catch {
        missing.push(block.height);
      }
    }
    assert.deepEqual(missing, [6, 110]);
  });
});
