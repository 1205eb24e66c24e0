import assert from 'node:assert/strict';
import { blockSettings } from '../../services/block/config.js';
import { ingest } from '../../services/block/ingest.js';
import { loadSettings } from '../../services/common/runtime/config.js';
import { UserError } from '../../services/common/runtime/errors.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { allReady } from '../../services/common/runtime/ops.js';
import { fakeEndpoints } from '../support/fake-endpoints.js';

const status = {
  result: {
    sync_info: { latest_block_height: '9', earliest_block_height: '1' },
    node_info: { network: 'chain-2' },
  },
};

describe('a block service that indexes nothing', () => {
  it('says so for good where that will not heal, and does not call itself ready', async () => {
    const rpc = fakeEndpoints('rpc', () => [200, status]);
    let reason = '';
    let chain: string | undefined;
    await ingest({
      config: loadSettings(blockSettings, {}),
      node: { rpc, rest: rpc, jsonrpc: undefined, batches: {} },
      fence: { acquire: async () => true, release: async () => {} },
      head: { reset: () => {} },
      validators: { load: async () => false },
      store: {
        unwind: async () => {},
        mend: async () => 0,
        range: async () => undefined,
        traceHeight: async () => 0,
        chain: async () => undefined,
        claim: async (id: string) => {
          throw new UserError(`the data is of chain chain-1, not ${id}`);
        },
      },
      log: createLog('silent'),
      metrics: createMetrics(),
      signal: new AbortController().signal,
      onChain: (id: string) => {
        chain = id;
      },
      onHindrance: (why: string) => {
        reason = why;
      },
      onFatal: (error: unknown) => assert.fail(String(error)),
    } as unknown as Parameters<typeof ingest>[0]);
    assert.match(reason, /nothing is indexed.*chain-1, not chain-2/);
    assert.equal(chain, undefined);
  });
});

describe('the readiness of several services in one process', () => {
  const is = (reason: string) => () => ({ ready: reason === '', reason });

  it('is that of all of them, and names each that is not', () => {
    assert.deepEqual(allReady({ block: is(''), tx: is('') })(), { ready: true, reason: '' });
    assert.deepEqual(allReady({ block: is(''), tx: is('no blocks heard'), gateway: is('stopping') })(), {
      ready: false,
      reason: 'tx: no blocks heard; gateway: stopping',
    });
  });
});
