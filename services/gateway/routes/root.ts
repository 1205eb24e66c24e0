import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../common/runtime/paths.js';
import { prefersHtml } from '../http/headers.js';
import { ref } from '../openapi/schema.js';
import { type About, type Content, type RouteGroup, route } from '../route.js';

/** The root: JSON for programs, a live page for people. */
export function createRootGroup(about: About): RouteGroup {
  const body = Buffer.from(
    JSON.stringify({ name: 'weft', version: about.version, docs: `${about.base_path}/swagger/` }),
  );
  return {
    tag: 'App',
    doc: 'The service itself.',
    schemas: {},
    routes: [
      route({
        path: '/',
        operation: 'getRoot',
        summary: 'What this is',
        doc: 'Name, version and where the documentation is; a live page for `Accept: text/html`.',
        parameters: {},
        response: ref('common.ServiceResponse'),
        example: () => JSON.parse(body.toString()),
        problems: [],
        owners: [],
        negotiates: true,
        handler: async (_, { accept }) =>
          prefersHtml(accept)
            ? readPage(about)
            : { body, settled: true, max_age: 60, headers: { vary: 'accept' } },
      }),
    ],
  };
}

const read = (name: string): string => readFileSync(join(packageRoot, 'services/gateway/page', name), 'utf8');

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The page in one piece; the policy allows exactly its own style and script, and requests to this API. */
function readPage(about: About): Content {
  const style = read('style.css');
  const script = read('script.js');
  const html = read('index.html')
    .replace('<base href="/">', `<base href="${about.base_path}/">`)
    .replace('<link rel="stylesheet" href="style.css">', () => `<style>${style}</style>`)
    .replace('<script src="script.js"></script>', () => `<script>${script}</script>`);
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    `script-src ${hashOf(script)}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    body: Buffer.from(html),
    type: 'text/html; charset=utf-8',
    settled: true,
    max_age: 60,
    headers: { vary: 'accept', 'content-security-policy': policy.join('; ') },
  };
}
