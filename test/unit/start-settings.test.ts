import assert from 'node:assert/strict';
import { ConfigError } from '../../services/common/runtime/config.js';
import { isRecorded, loadStartConfig } from '../../tools/start/settings.js';

const mistakesOf = (env: Record<string, string>): readonly string[] => {
  try {
    loadStartConfig(env);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.mistakes;
  }
  return [];
};

const urls = { RPC_URL: 'http://a:1', REST_URL: 'http://a:2', JSON_RPC_URL: 'http://a:3' };

describe('the settings of weft start', () => {
  it('are none at all for the recorded rollup', () => {
    const config = loadStartConfig({});
    assert.equal(isRecorded(config), true);
    assert.deepEqual([config.VM_TYPE, config.PORT, config.LOG_LEVEL], ['evm', 8080, 'warn']);
  });

  it('are the URLs of a node for a rollup', () => {
    const config = loadStartConfig({ ...urls, RPC_URL: 'http://a:1/, https://b/rpc/' });
    assert.equal(isRecorded(config), false);
    assert.deepEqual(config.RPC_URL, ['http://a:1', 'https://b/rpc']);
    const { JSON_RPC_URL: _, ...two } = urls;
    assert.deepEqual(mistakesOf({ ...two, VM_TYPE: 'move' }), [], 'no EVM, no JSON-RPC');
  });

  it('are reported with all their mistakes at once, those of the whole included', () => {
    const mistakes = mistakesOf({ RPC_URL: 'ftp://a', PORT: 'x', CORS: 'nonsense' });
    assert.deepEqual(mistakes.map((mistake) => mistake.split(' ')[0]).sort(), [
      'CORS',
      'JSON_RPC_URL',
      'PORT',
      'REST_URL',
      'RPC_URL',
    ]);
    assert.equal(mistakes.filter((mistake) => mistake.startsWith('RPC_URL')).length, 1, 'once each');
  });

  it('say nothing of what follows only from another mistake', () => {
    const mistakes = mistakesOf({ ...urls, JSON_RPC_URL: '', VM_TYPE: 'evn' });
    assert.deepEqual(mistakes, ['VM_TYPE is "evn": must be one of evm, move, wasm']);
    assert.deepEqual(mistakesOf({ ...urls, RPC_URL: 'a' }).length, 1);
  });

  it('refuse what would serve the recorded rollup by mistake', () => {
    const mistakes = mistakesOf({ CHAIN_ID: 'my-rollup-1', VM_TYPE: 'wasm' });
    assert.equal(mistakes.length, 2);
    assert.ok(mistakes.every((mistake) => mistake.includes('RPC_URL')));
  });

  it('take the other names, and never show a secret', () => {
    assert.equal(loadStartConfig({ METRICS_PORT: '9191', INDEXER_PORT: '1' }).OPS_PORT, 9191);
    const [mistake] = mistakesOf({ CLICKHOUSE_URL: 'clickhouse.example:8123;password=hidden' });
    assert.match(mistake ?? '', /^CLICKHOUSE_URL is \(not shown\)/);
    assert.doesNotMatch(mistake ?? '', /hidden/);
  });
});
