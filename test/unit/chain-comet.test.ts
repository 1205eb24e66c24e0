import assert from 'node:assert/strict';
import { readBlock, readResults, readStatus } from '../../services/common/chain/comet.js';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { lies } from '../support/attack/hostile-node.js';

/** A block of the recording that has txs. */
const height = 50;

describe('what a CometBFT node says', () => {
  let node: ReplayNode;
  before(async () => {
    node = await startReplayNode({ recording: 'evm' });
  });
  after(() => node.close());

  /** An answer of the node with a change to its result. */
  const answer = async (path: string, change: (result: never) => unknown = () => {}): Promise<string> => {
    const said = (await (await fetch(`${node.rpc_url}${path}`)).json()) as { result: never };
    change(said.result);
    return JSON.stringify(said);
  };
  const block = async (change?: (result: never) => unknown) =>
    readBlock(height, '', 200, await answer(`/block?height=${height}`, change));
  const results = async (change?: (result: never) => unknown) =>
    readResults(height, 200, await answer(`/block_results?height=${height}`, change));

  it('is believed as it is recorded', async () => {
    assert.equal((await block()).txs.length, (await results()).txs_results.length);
    assert.equal(readStatus(200, await answer('/status')).latest_height, node.tip());
  });

  /** What can be told from one answer alone; the others only show beside another one. */
  const alone = Object.entries<(typeof lies)[keyof typeof lies]>(lies).filter(
    ([name]) => !['another parent', 'no results', 'no receipts'].includes(name),
  );
  for (const [name, lie] of alone)
    it(`is refused: ${name}`, async () => {
      const read = 'block' in lie ? block(lie.block) : 'results' in lie ? results(lie.results) : undefined;
      assert.ok(read !== undefined);
      await assert.rejects(read, (error: Error & { reason?: string }) => {
        assert.equal(error.reason, 'malformed');
        assert.match(error.message, new RegExp(`^block(_results)? ${height}: `));
        return error.message.length < 200;
      });
    });

  for (const [name, value] of [
    ['latest_block_height', '-5'],
    ['latest_block_height', '9'.repeat(1_000_000)],
    ['earliest_block_height', {}],
  ] as const)
    it(`is refused: ${name} ${String(value).slice(0, 20)}`, async () => {
      const lying = await answer('/status', (result: { sync_info: Record<string, unknown> }) => {
        result.sync_info[name] = value;
      });
      assert.throws(() => readStatus(200, lying), { reason: 'malformed' });
    });
});
