import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { HDNodeWallet } from 'ethers';
import { loadSettings } from '../../services/common/runtime/config.js';
import { createLog } from '../../services/common/runtime/log.js';
import { signerSettings } from '../../services/scoring-operator/contract/settings.js';
import {
  checkSignerSettings,
  createSigner,
  hide,
  signerOfKey,
} from '../../services/scoring-operator/contract/signer.js';
import { temporaryFolder } from '../support/folder.js';
import { serveHttp } from '../support/http-server.js';

const key = '8f2a559490cc2a7ab61c32ed3d4f4b8a8a2f6d8d0ea9f4d9b3f3c0b2a9e1d7c5';
const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

/** The settings of an environment. */
const load = (env: Record<string, string>) => loadSettings(signerSettings, env);

/** Everything that printing a value in any usual way shows. */
function everyPrint(value: unknown): string {
  const lines: string[] = [];
  const file = temporaryFolder('log');
  const log = createLog('trace', join(file, 'log'));
  log.info({ value, err: value }, String(value));
  lines.push(inspect(value, { depth: 20, showHidden: true }), String(value), JSON.stringify(value) ?? '');
  if (value instanceof Error) lines.push(value.stack ?? '', inspect(value.cause, { depth: 20 }));
  return lines.join('\n');
}

describe('signers', () => {
  const folder = temporaryFolder('signer');

  it('are made of a private key, with or without 0x, or of a file that holds it', async () => {
    const path = join(folder, 'key');
    writeFileSync(path, `0x${key}\n`);
    const address = signerOfKey(hide(key)).address;
    for (const env of [{ PRIVATE_KEY: key }, { PRIVATE_KEY: `0x${key}` }, { PRIVATE_KEY_FILE: path }]) {
      assert.equal((await createSigner(load(env))).address, address);
    }
  });

  it('are made of BIP39 words, on the path of wallets, by index', async () => {
    const path = join(folder, 'words');
    writeFileSync(path, `${words.toUpperCase()}  \n`);
    for (const index of [0, 1, 7]) {
      const { address } = HDNodeWallet.fromPhrase(words, '', `m/44'/60'/0'/0/${index}`);
      const env = { MNEMONIC_INDEX: String(index) };
      assert.equal((await createSigner(load({ MNEMONIC: words, ...env }))).address, address);
      assert.equal((await createSigner(load({ MNEMONIC_FILE: path, ...env }))).address, address);
    }
  });

  it('behind a URL are asked there alone: what they are to sign is never sent on', async () => {
    const seen: string[] = [];
    const server = await serveHttp((request, response) => {
      seen.push(request.url ?? '');
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    await assert.rejects(createSigner(load({ SIGNER_URL: `${server.url}/here` })), /no answer/);
    await server.close();
    assert.deepEqual(seen, ['/here']);
  });

  it('behind a URL are quoted briefly, and never with what only the two of us know', async () => {
    const server = await serveHttp((request, response) => {
      const echo = `no: ${request.headers.authorization} ${request.url}\n pass%20word pass word ${'x'.repeat(1e6)}`;
      response.end(JSON.stringify({ id: 1, error: { code: -32000, message: echo } }));
    });
    const url = `http://me:pass%20word@127.0.0.1:${server.port}/v1/path-with-a-key?key=s3cret`;
    await assert.rejects(createSigner(load({ SIGNER_URL: url })), ({ message }: Error) => {
      assert.match(message, /the signer's eth_accounts: no: Basic /);
      assert.ok(message.length < 400);
      assert.doesNotMatch(message, /pass.{1,3}word|s3cret|path-with|bWU6/);
      return true;
    });
    await server.close();
  });

  it('are exactly one', () => {
    const check = (env: Record<string, string>) => checkSignerSettings(load(env)).join();
    assert.match(check({}), /no signer: set PRIVATE_KEY/);
    assert.match(check({ PRIVATE_KEY: key, MNEMONIC: words }), /PRIVATE_KEY and MNEMONIC are set/);
    assert.equal(check({ PRIVATE_KEY: key }), '');
  });

  it('are of the account that is named', () => {
    const check = (SIGNER_ADDRESS: string) =>
      checkSignerSettings(load({ PRIVATE_KEY: key, SIGNER_ADDRESS })).join();
    assert.equal(check(signerOfKey(hide(key)).address.toLowerCase()), '');
    assert.match(check(`0x${'1'.repeat(40)}`), /is the key of 0x/);
  });

  it('say what is wrong without saying what was given', async () => {
    const bad: Record<string, string>[] = [
      { PRIVATE_KEY: `${key}ff` },
      { PRIVATE_KEY: `zz${key.slice(2)}` },
      { PRIVATE_KEY: 'f'.repeat(64) },
      { PRIVATE_KEY: '0'.repeat(64) },
      { MNEMONIC: words.replace('yellow', 'winner') },
      { MNEMONIC: `${key} ${words}` },
      { PRIVATE_KEY: key, MNEMONIC: words },
      { PRIVATE_KEY_FILE: join(folder, 'none') },
      { SIGNER_URL: `ftp://user:${key}@host` },
      { SIGNER_URL: `http://user:${key}@127.0.0.1:1/${key}` },
      { PRIVATE_KEY: key, MNEMONIC_INDEX: '-1' },
    ];
    for (const env of bad) {
      const error = await Promise.resolve()
        .then(() => createSigner(load(env)))
        .then(
          () => assert.fail(`no error for ${Object.keys(env).join()}`),
          (thrown: unknown) => thrown,
        );
      const text = everyPrint(error);
      for (const secret of [key, words, 'f'.repeat(64), 'zz8f2a', 'legal winner']) {
        assert.ok(!text.includes(secret.slice(2)), `${Object.keys(env).join()}: ${text}`);
      }
    }
  });

  it('never show what they are made of', async () => {
    const configs = [
      load({ PRIVATE_KEY: key }),
      load({ MNEMONIC: words }),
      load({ SIGNER_URL: `http://a:${key}@b/` }),
    ];
    for (const config of configs) {
      for (const value of [config, { ...config }, config.PRIVATE_KEY, config.MNEMONIC, config.SIGNER_URL]) {
        const text = everyPrint(value);
        assert.ok(!text.includes(key) && !text.includes('winner'), text);
      }
    }
    const signer = await createSigner(load({ PRIVATE_KEY: key }));
    assert.ok(!everyPrint(signer).includes(key.slice(2)));
    assert.ok(!everyPrint(await createSigner(load({ MNEMONIC: words }))).includes('winner'));
  });
});
