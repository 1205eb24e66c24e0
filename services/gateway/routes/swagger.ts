import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../common/runtime/paths.js';
import { type About, type Content, type RouteGroup, route } from '../route.js';

/** Files of the Swagger UI package that its page needs, and their types. */
const files: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** Scripts and data come from here only; Swagger UI writes styles into elements and draws with data: URLs. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const hour_s = 3_600;

/** A page that holds nothing but Swagger UI; paths are absolute so that it works with and without a slash at its end. */
const page = (base_path: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>weft API</title>
<link rel="icon" type="image/png" href="${base_path}/swagger/favicon-32x32.png">
<link rel="stylesheet" href="${base_path}/swagger/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="${base_path}/swagger/swagger-ui-bundle.js"></script>
<script src="${base_path}/swagger/start.js"></script>
</body>
</html>
`;

const script = (base_path: string): string => `SwaggerUIBundle({
  url: ${JSON.stringify(`${base_path}/swagger/doc.json`)},
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
});
`;

/** A route that serves a file or a page and is no part of the document. */
const hidden = (path: string, operation: string, load: () => Promise<Content>) =>
  route({
    path,
    operation,
    summary: '',
    doc: '',
    parameters: {},
    response: undefined,
    problems: [],
    owners: [],
    handler: load,
  });

/**
 * The documentation: a Swagger UI page whose files come with the package, and the OpenAPI
 * document.
 *
 * @param createDocument makes the document; called at the first request for it.
 */
export function createSwaggerGroup(about: About, createDocument: () => object): RouteGroup {
  const { base_path } = about;
  const html = async (): Promise<Content> => ({
    body: Buffer.from(page(base_path)),
    type: 'text/html; charset=utf-8',
    settled: true,
    max_age: 60,
    headers: { 'content-security-policy': policy },
  });
  const fromPackage = (name: string, type: string) =>
    hidden(`/swagger/${name}`, name, async () => ({
      body: await readFile(join(swaggerFolder(), name)),
      type,
      settled: true,
      max_age: hour_s,
    }));
  return {
    tag: 'Documentation',
    doc: 'This document.',
    schemas: {},
    routes: [
      hidden('/swagger', 'swagger', html),
      hidden('/swagger/index.html', 'swaggerIndex', html),
      hidden('/swagger/start.js', 'swaggerStart', async () => ({
        body: Buffer.from(script(base_path)),
        type: 'text/javascript; charset=utf-8',
        settled: true,
        max_age: 60,
      })),
      ...Object.entries(files).map(([name, type]) => fromPackage(name, type)),
      hidden('/swagger/doc.json', 'swaggerDocument', async () => ({
        body: Buffer.from(JSON.stringify(createDocument())),
        settled: true,
        max_age: 60,
      })),
    ],
  };
}

/** Where the Swagger UI package is installed. */
const swaggerFolder = (): string =>
  dirname(createRequire(join(packageRoot, 'package.json')).resolve('swagger-ui-dist/package.json'));
