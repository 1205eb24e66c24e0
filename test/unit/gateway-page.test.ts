import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { startTestGateway } from '../support/gateway-client.js';
import { startBefore } from '../support/suite.js';

const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('gateway: pages', () => {
  const gateway = startBefore(
    () => startTestGateway({ BASE_PATH: '/x' }),
    (gateway) => gateway.stop(),
  );

  it('the root is JSON for programs', async () => {
    const others = [
      {},
      { accept: '*/*' },
      { accept: 'application/json' },
      { accept: 'text/html;q=0.5, application/json' },
    ];
    for (const headers of others) {
      const answer = await gateway.get('/x/', { headers });
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
      assert.match(String(answer.headers.vary), /\baccept\b(?!-)/);
      assert.deepEqual(answer.json(), { name: 'weft', version: '1.2.3', docs: '/x/swagger/' });
    }
  });

  it('the root is a page for people, whoever asked before', async () => {
    for (const headers of [{ accept }, { accept: 'TEXT/HTML' }]) {
      const answer = await gateway.get('/x', { headers });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8');
      assert.match(String(answer.headers.vary), /\baccept\b(?!-)/);
    }
    assert.match(String((await gateway.get('/x')).headers['content-type']), /json/);
  });

  it('the policy allows exactly the style and the script of the page', async () => {
    const answer = await gateway.get('/x', { headers: { accept } });
    const html = answer.body.toString();
    const policy = String(answer.headers['content-security-policy']);
    const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? '';
    const script = /<script>([\s\S]*?)<\/script>/.exec(html)?.[1] ?? '';
    assert.ok(style.length > 500 && script.length > 500);
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    assert.ok(policy.includes(`style-src ${hash(style)};`));
    assert.ok(policy.includes(`script-src ${hash(script)};`));
    assert.match(policy, /^default-src 'none';/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    assert.equal(html.match(/<script/g)?.length, 1);
    assert.doesNotMatch(html, /\son\w+=|\sstyle=/, 'something inline that the policy forbids');
  });

  it('the page asks for nothing from elsewhere and writes no markup', async () => {
    const html = (await gateway.get('/x', { headers: { accept } })).body.toString();
    assert.deepEqual([...new Set(html.match(/https?:\/\/[^\s'"]+/g))], ['http://www.w3.org/2000/svg']);
    assert.doesNotMatch(html, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/);
    assert.ok(html.includes('<base href="/x/">'));
    for (const [, link] of html.matchAll(/<a href="([^"]+)"/g)) {
      assert.equal((await gateway.get(`/x/${link}`)).status, 200, link);
    }
  });

  it('the page learns of the tip, and of how long the height has stood still, not of block times', async () => {
    const { fakes } = gateway;
    const live = async () => (await gateway.get('/x/live.json')).json();
    const first = await live();
    const { height, quiet_ms, node_height, ...others } = first;
    assert.deepEqual([height, node_height], [5, 5]);
    assert.deepEqual(
      Object.keys({ ...others, height }).sort(),
      Object.keys((await gateway.get('/x/status')).json()).sort(),
    );
    assert.ok(quiet_ms >= 0 && quiet_ms < 10_000, `${quiet_ms}`);
    await delay(1_200);
    assert.ok((await live()).quiet_ms >= 1_200);
    // One of the two is not enough for the height that is served.
    fakes.sayBlockHead({ height: 6 });
    await delay(50);
    assert.ok((await live()).quiet_ms >= 1_250);
    fakes.sayTxHead({ height: 6 });
    await delay(50);
    assert.ok((await live()).quiet_ms < 1_000);
  });

  it('Swagger UI comes from here, in every spelling of its path', async () => {
    for (const path of ['/x/swagger', '/x/swagger/', '/x/swagger/index.html']) {
      const answer = await gateway.get(path);
      assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8');
      assert.match(
        String(answer.headers['content-security-policy']),
        /default-src 'none'; script-src 'self'/,
      );
      assert.doesNotMatch(answer.body.toString(), /https?:/);
    }
    const script = await gateway.get('/x/swagger/start.js');
    assert.match(script.body.toString(), /"\/x\/swagger\/doc\.json"/);
    assert.match(script.body.toString(), /validatorUrl: null/);
    const bundle = await gateway.get('/x/swagger/swagger-ui-bundle.js', {
      headers: { 'accept-encoding': 'br' },
    });
    assert.equal(bundle.headers['content-encoding'], 'br');
    assert.equal(bundle.headers['content-type'], 'text/javascript; charset=utf-8');
    assert.equal(
      (await gateway.get('/x/swagger/swagger-ui.css')).headers['content-type'],
      'text/css; charset=utf-8',
    );
  });
});
