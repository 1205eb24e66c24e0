import assert from 'node:assert/strict';
import { parseAccount, toBech32 } from '../../services/common/chain/address.js';
import { UserError } from '../../services/common/runtime/errors.js';
import type { ReplayNode } from '../../tools/replay/node.js';
import { verifyCommand } from '../../tools/verify/cli.js';
import { blockStarters } from '../support/block.js';
import { execute, query, testDatabase, uniquePrefix } from '../support/database.js';
import { readFacts, vmOf } from '../support/facts.js';
import { isWhole } from '../support/sample.js';
import { type Stack, startStack } from '../support/stack.js';
import { endsAfterEach } from '../support/suite.js';
import { createScreen, expectViews } from '../support/views.js';

const options = { name: 'test.damage' };
/** A row of a table, as it is stored. */
type Row = Record<string, unknown>;

/** Nothing from memory: what the tables say is compared. */
const uncached = { CACHE_MB: '0', BODY_CACHE_MB: '0', FACT_CACHE_MB: '0' };

describe('weft verify', () => {
  const endLater = endsAfterEach();

  const { startNode } = blockStarters(endLater);

  async function start(node: ReplayNode, vm: string, env: Record<string, string> = {}): Promise<Stack> {
    const stack = await startStack(node, { vm, env: { ...uncached, ...env } });
    return { ...stack, stop: endLater(() => stack.stop()) };
  }

  /** Runs the command; gives its exit code and what it printed, line by line. */
  async function run(
    node: ReplayNode,
    api: string,
    vm: string,
    ...args: string[]
  ): Promise<{ code: number; lines: string[] }> {
    const { screen, printed } = createScreen();
    const env = {
      RPC_URL: node.rpc_url,
      REST_URL: node.rest_url,
      JSON_RPC_URL: vm === 'evm' ? node.json_rpc_url : '',
      VM_TYPE: vm,
      NODE_TIMEOUT_MS: '1000',
    };
    const code = await verifyCommand(['--api', api, ...args], env, screen);
    return { code, lines: printed().split('\n').slice(0, -1) };
  }

  const names = ['evm', 'wasm-hostile', ...(isWhole ? (['move', 'wasm'] as const) : [])] as const;
  for (const name of names) {
    it(`finds nothing in an index of the ${name} chain`, async () => {
      const facts = readFacts(name);
      const node = await startNode({ recording: name });
      const stack = await start(node, vmOf(name));
      await stack.reaches(node.tip(), name === 'evm');
      await stack.knowsNfts(node.tip());
      await expectViews(stack.addresses);
      const { code, lines } = await run(node, stack.url, vmOf(name), '--all');
      const counted = lines.filter((line) => !line.startsWith('note: '));
      assert.equal(counted[0], `blocks: ${facts.height} compared, no difference`);
      assert.equal(counted[1], `txs: ${facts.txs_total} compared, no difference`);
      if (name === 'evm') {
        assert.equal(lines[2], `receipts: ${facts.evm_txs_total} compared, no difference`);
        assert.match(lines[3] ?? '', /^internal txs: [1-9]\d+ compared, no difference$/);
      } else assert.ok(!lines.some((line) => /receipts|internal/.test(line)));
      assert.equal(code, 0);
      // What a contract denies although its own events say it is no fault of the index.
      const notes = lines.filter((line) => line.startsWith('note: '));
      assert.equal(notes.length, { evm: 0, move: 0, wasm: 3, 'wasm-hostile': 7 }[name]);
      for (const note of notes) assert.match(note, /0x45dbea46.*: the contract contradicts its own events/);
      const owners = lines.find((line) => line.startsWith('owners of tokens: '));
      assert.match(owners ?? '', /^owners of tokens: [1-9]\d+ compared, no difference(, \d notes)?$/);
      if (name === 'evm') assert.match(lines.at(-1) ?? '', /^balances: [1-9]\d+ compared, no difference$/);
      if (name === 'wasm') return;

      const sample = await run(node, stack.url, vmOf(name), '--from', '10', '--to', '60', '--sample', '7');
      assert.equal(sample.code, 0);
      assert.equal(
        sample.lines.find((line) => !line.startsWith('note: ')),
        'blocks: 7 compared, no difference',
      );
    });
  }

  it('finds blocks that two writers left twice, and the next writer leaves them once', async () => {
    const node = await startNode({ recording: 'evm', tip: 60 });
    const prefix = uniquePrefix();
    const env = { CLICKHOUSE_DATABASE: prefix };
    const first = await start(node, 'evm', env);
    await first.reaches(60, true);
    await first.stop();
    for (const table of ['blocks', 'materials', 'traces'])
      await execute(
        `INSERT INTO ${prefix}_block.${table} SELECT * FROM ${prefix}_block.${table} WHERE height BETWEEN 50 AND 52`,
      );
    const serving = await start(node, 'evm', { ...env, ROLE: 'serve' });
    await serving.reaches(60);
    const found = await run(node, serving.url, 'evm', '--from', '45', '--to', '60', '--all');
    assert.equal(found.code, 1);
    for (const height of [50, 51, 52])
      assert.ok(
        found.lines.some((line) => line.startsWith(`block ${height}: times in the list`)),
        found.lines.join('\n'),
      );
    await serving.stop();
    const second = await start(node, 'evm', env);
    await second.reaches(60, true);
    const { code, lines } = await run(node, second.url, 'evm', '--from', '45', '--to', '60', '--all');
    assert.equal(code, 0, lines.join('\n'));
    const [rows] = await query<{ n: number }>(`SELECT count() AS n FROM ${prefix}_block.materials`);
    assert.equal(rows?.n, 60);
  });

  it('prints exactly the differences that were made', async () => {
    const node = await startNode({ recording: 'evm' });
    const prefix = uniquePrefix();
    // Comparing would set the balance right.
    const env = { CLICKHOUSE_DATABASE: prefix, RECONCILE_INTERVAL_MS: '0' };
    const first = await start(node, 'evm', env);
    await first.reaches(157, true);
    await first.knowsNfts(157);
    const { txs } = await first.get<{ txs: { txhash: string; gas_used: string }[] }>(
      '/indexer/tx/v1/txs?pagination.reverse=false',
    );
    const receipts = await first.get<{ txs: { transactionHash: string; gasUsed: string }[] }>(
      '/indexer/tx/v1/evm-txs?pagination.reverse=false',
    );
    const { block } = await first.get<{ block: { hash: string } }>('/indexer/block/v1/blocks/33');
    const traced = await first.get<{ internal_txs: { hash: string; height: number }[] }>(
      '/indexer/tx/v1/evm-internal-txs?pagination.reverse=false',
    );
    const { collections } = await first.get<{
      collections: { object_addr: string; collection: { nfts: { length: number } } }[];
    }>('/indexer/nft/v1/collections');
    const collection = collections.find((each) => each.collection.nfts.length > 0);
    assert.ok(collection !== undefined);
    const { tokens } = await first.get<{ tokens: { nft: { token_id: string }; owner: string }[] }>(
      `/indexer/nft/v1/tokens/by_collection/${collection.object_addr}`,
    );
    const [token] = tokens;
    const { holders } = await first.get<{ holders: { account: string; amount: string }[] }>(
      '/indexer/richlist/v1/GAS',
    );
    const [holder] = holders;
    assert.ok(token !== undefined && holder !== undefined);
    await first.stop();

    const database = await testDatabase();
    const [changed, lost, receipt] = [txs[4], txs[9], receipts.txs[2]];
    const frame = traced.internal_txs[5];
    assert.ok(changed !== undefined && lost !== undefined && receipt !== undefined && frame !== undefined);
    const frames = traced.internal_txs.filter(({ hash }) => hash === frame.hash).length;
    const tx_db = `${prefix}_tx`;
    const rewrite = async (kind: string, sequence: number, from: string, to: string): Promise<void> => {
      const where = `kind = '${kind}' AND sequence = ${sequence}`;
      const [row] = await query<{ body: string }>(`SELECT body FROM ${tx_db}.bodies WHERE ${where}`);
      assert.ok(row !== undefined, where);
      assert.ok(row.body.includes(from), `${from} in ${row.body}`);
      await execute(`DELETE FROM ${tx_db}.bodies WHERE ${where}`);
      const body = row.body.replace(from, to);
      await database.insert(`${tx_db}.bodies`, JSON.stringify({ kind, sequence, body }), options);
    };
    await rewrite('tx', 5, `"gas_used":"${changed.gas_used}"`, '"gas_used":"17"');
    await rewrite('evm_tx', 3, `"gasUsed":"${receipt.gasUsed}"`, '"gasUsed":"0x11"');
    for (const statement of [
      `DELETE FROM ${tx_db}.hashes WHERE kind = 'tx' AND hash = '${lost.txhash.toLowerCase()}'`,
      `DELETE FROM ${tx_db}.internal_blocks WHERE height = ${frame.height}`,
      `DELETE FROM ${prefix}_block.blocks WHERE height = 33`,
    ])
      await execute(statement);

    /** Puts other rows in the place of those of a table. */
    const replace = async (table: string, where: string, change: (row: Row) => Row): Promise<void> => {
      const rows = await query<Row>(`SELECT * FROM ${table} WHERE ${where}`);
      assert.ok(rows.length > 0, `${table} WHERE ${where}`);
      await execute(`DELETE FROM ${table} WHERE ${where}`);
      await database.insert(table, rows.map((row) => JSON.stringify(change(row))).join('\n'), options);
    };
    const contract = collection.object_addr.slice(2);
    const thief = '7'.repeat(40);
    const [named] = await query<{ id_key: string }>(
      `SELECT id_key FROM ${prefix}_nft.token_states WHERE collection = '${contract}' AND endsWith(id_key, '${token.nft.token_id}') ORDER BY length(id_key) LIMIT 1`,
    );
    await replace(
      `${prefix}_nft.token_states`,
      `collection = '${contract}' AND id_key = '${named?.id_key}'`,
      (row) => ({ ...row, owner: thief }),
    );
    await replace(`${prefix}_nft.token_counts`, `collection = '${contract}' AND account = ''`, (row) => ({
      ...row,
      token_count: Number(row['token_count']) + 1,
    }));
    const supply = holders.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    const more = String(BigInt(holder.amount) + 1n);
    const list = `${prefix}_richlist.holder_list`;
    // As a text: so long a number would be read as a floating point one.
    const place = `account = '${holder.account.slice(2)}' AND place = toUInt256('${2n ** 256n - 1n - BigInt(holder.amount)}')`;
    await execute(
      `INSERT INTO ${list} (token, place, account, version, is_deleted) SELECT token, place - 1, account, version, 0 FROM ${list} WHERE ${place}`,
    );
    await execute(`DELETE FROM ${list} WHERE ${place}`);

    const second = await start(node, 'evm', env);
    await second.reaches(157, true);
    const { code, lines } = await run(node, second.url, 'evm', '--all');
    assert.equal(code, 1);
    const { height } = lost as unknown as { height: string };
    assert.deepEqual(
      lines.filter((line) => !/ compared, /.test(line)).sort(),
      [
        `GAS of ${holder.account} at height 157: amount: index ${more}, node ${holder.amount}`,
        `note: GAS: its holders have ${supply + 1n} of a supply of ${supply} at height 157: 1 too many`,
        `block 33: hash: index nothing, node ${block.hash}`,
        `collection ${collection.object_addr}: length: index ${tokens.length + 1}, node ${tokens.length}`,
        `token "${token.nft.token_id}" of ${collection.object_addr}: owner: index ${toBech32(thief, 'init')}, node 0x${parseAccount(token.owner, 'init')}`,
        `internal txs of ${frame.hash}: number of call frames: index 0, node ${frames}`,
        `receipt ${receipt.transactionHash}: gasUsed: index 0x11, node ${receipt.gasUsed}`,
        `tx ${changed.txhash}: gas_used: index 17, node ${changed.gas_used}`,
        `tx ${lost.txhash}: found by its hash: index nothing, node ${height}`,
      ].sort(),
    );
    assert.equal(lines.filter((line) => /: \d+ compared, 1 difference(, 1 note)?$/.test(line)).length, 4);
    assert.equal(lines.filter((line) => /: \d+ compared, 2 differences$/.test(line)).length, 2);
  });

  it('prints what the index cannot answer for want of a row, and a chain that is another one', async () => {
    const node = await startNode({ recording: 'evm', tip: 60 });
    const prefix = uniquePrefix();
    const stack = await start(node, 'evm', { CLICKHOUSE_DATABASE: prefix });
    await stack.reaches(60, true);
    await execute(`DELETE FROM ${prefix}_tx.bodies WHERE kind = 'tx' AND sequence = 8`);
    const hole = await run(node, stack.url, 'evm', '--all');
    assert.equal(hole.code, 1);
    const [line] = hole.lines.filter((each) => !/ compared, /.test(each));
    assert.match(line ?? '', /^txs of block \d+: answer: index http.* HTTP 503 .*, node answers$/);

    const other = await startNode({ recording: 'evm', tip: 60 });
    other.fork(59, { tip: 60 });
    const forked = await run(other, stack.url, 'evm', '--from', '58', '--to', '60');
    assert.equal(forked.code, 1);
    assert.ok(
      forked.lines.some((each) => /^block 59: hash: index [0-9A-F]{64}, node [0-9A-F]{64}$/.test(each)),
    );
    assert.ok(!forked.lines.some((each) => /^block 58: hash/.test(each)));
    other.setTip(55);
    const shorter = await run(other, stack.url, 'evm', '--from', '50');
    assert.ok(shorter.lines.includes('the chain: last height: index 60, node 55'));
  });

  it('ends with 75 when a side does not answer, and says what is wrong with the options', async () => {
    const node = await startNode({ recording: 'wasm', tip: 20 });
    const stack = await start(node, 'wasm');
    await stack.reaches(20);
    for (const args of [
      ['--rpc-url', 'http://127.0.0.1:9'],
      ['--api', 'http://127.0.0.1:9'],
    ]) {
      const { code, lines } = await run(node, stack.url, 'wasm', ...args);
      assert.equal(code, 75);
      assert.match(lines.at(-1) ?? '', /^not compared to the end: /);
    }
    node.faults({ fail_one_in: 1 });
    assert.equal((await run(node, stack.url, 'wasm')).code, 75);
    node.faults({});
    assert.equal((await run(node, stack.url, 'wasm')).code, 0);
    for (const [args, words] of [
      [['--from', '0'], /--from "0" must be/],
      [['--from', '5', '--to', '4'], /--from 5 is above --to 4/],
      [['--from', '21'], /above the last height, 20/],
      [['--to', '21'], /above the last indexed block, 20/],
      [['--sample', 'x'], /--sample "x" must be/],
      [['--all', '--sample', '3'], /exclude each other/],
      [['--rpc-url', 'nonsense'], /RPC_URL/],
    ] as const) {
      await assert.rejects(run(node, stack.url, 'wasm', ...args), (error) => {
        assert.ok(error instanceof UserError, String(error));
        assert.match(error.message, words);
        return true;
      });
    }
  });
});
