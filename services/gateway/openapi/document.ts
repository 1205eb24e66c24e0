import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../common/runtime/paths.js';
import type { Parameters } from '../parameters.js';
import type { About, Route, RouteGroup } from '../route.js';
import { decimal, exactly, type JsonSchema, natural, ref, type Schemas, text } from './schema.js';

/** Answers that any route can give besides the good one. */
const always = { 304: 'Not modified', 429: 'TooMany', 500: 'Internal', 503: 'Unavailable', 504: 'Timeout' };

const problems: Readonly<Record<string, string>> = {
  Invalid: 'A parameter cannot be right; the message names it and its value.',
  Unknown: 'What was asked for is well-formed but not there.',
  TooMany: 'More requests than this address may send; see `Retry-After`.',
  Internal: 'Something is wrong with the service; its log knows more under the request id.',
  Unimplemented: 'The virtual machine of this rollup does not have it.',
  Unavailable: 'A part of the service is down; see `Retry-After`.',
  Timeout: 'The query ran out of time.',
};

const problemOfStatus: Readonly<Record<number, string>> = {
  400: 'Invalid',
  404: 'Unknown',
  501: 'Unimplemented',
};

const json = (schema: JsonSchema, example?: unknown) => ({
  'application/json': { schema, ...(example === undefined ? {} : { example }) },
});

/** Schemas that all groups share. */
function commonSchemas(about: About): Schemas {
  const key = (which: string): JsonSchema =>
    about.absent_key === 'null'
      ? { type: ['string', 'null'], description: `Key of the page ${which}; null when there is none.` }
      : text(`Key of the page ${which}; empty when there is none.`);
  return {
    'common.PaginationResponse': exactly({
      next_key: key('after this one'),
      previous_key: key('before this one'),
      total: decimal('Number of items in the list; "0" when not counted.'),
    }),
    'common.ErrorResponse': exactly({
      code: natural('gRPC code.'),
      message: text('What is wrong.'),
      details: { type: 'array', items: {} },
    }),
    'common.ServiceResponse': exactly({
      name: text('Name of the service.'),
      version: text('Version of the service.'),
      docs: text('Path of the documentation.'),
    }),
  };
}

/** The OpenAPI document of these groups. Routes without a response schema are left out. */
export function createDocument(groups: readonly RouteGroup[], about: About): object {
  const shown = groups.filter((group) => group.routes.some((route) => route.response !== undefined));
  const operations = shown.flatMap((group) =>
    group.routes
      .filter((route) => route.response !== undefined)
      .map((route) => [route.path, { get: operationOf(route, group.tag) }] as const),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'weft',
      version: about.version,
      description:
        'Indexed blocks, transactions, NFTs and token holders of a rollup. All requests are GET and need no authentication. Unknown query parameters are ignored; of a parameter that is sent more than once the first counts (`msgs` excepted), and an empty one counts as absent.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: about.base_path || '/' }],
    tags: [...new Map(shown.map(({ tag, doc }) => [tag, { name: tag, description: doc }])).values()],
    paths: Object.fromEntries(operations),
    components: {
      schemas: Object.assign({}, commonSchemas(about), ...groups.map((group) => group.schemas)),
      responses: Object.fromEntries(
        Object.entries(problems).map(([name, description]) => [
          name,
          { description, content: json(ref('common.ErrorResponse')) },
        ]),
      ),
    },
  };
}

function operationOf(route: Route, tag: string): object {
  const { 304: notModified, ...others } = always;
  const refTo = (name: string) => ({ $ref: `#/components/responses/${name}` });
  return {
    operationId: route.operation,
    tags: [tag],
    summary: route.summary,
    description: route.doc,
    parameters: parametersOf(route.parameters),
    responses: {
      200: { description: 'OK', content: json(route.response as JsonSchema, route.example?.()) },
      304: { description: notModified },
      ...Object.fromEntries(Object.entries(others).map(([status, name]) => [status, refTo(name)])),
      ...Object.fromEntries(
        route.problems.map((status) => [status, refTo(problemOfStatus[status] as string)]),
      ),
    },
  };
}

function parametersOf(parameters: Parameters): readonly object[] {
  return Object.entries(parameters).map(([name, parameter]) => ({
    name,
    in: parameter.in,
    description: parameter.doc,
    required: parameter.in === 'path',
    schema: parameter.schema,
    ...(parameter.example === undefined ? {} : { example: parameter.example }),
    ...(parameter.schema.type === 'array' ? { style: 'form', explode: true } : {}),
  }));
}

/** An object of a recorded rollup, to show in the document. */
export function readExample(
  name: 'block' | 'tx' | 'evm-tx' | 'evm-internal-tx' | 'nft-collection' | 'nft-token',
): unknown {
  const file = join(packageRoot, 'services/gateway/openapi/examples', `${name}.json`);
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** A pagination object of a first page that is not the last. */
export const examplePage = { next_key: 'AAAAAAAAACE', previous_key: '', total: '157' };
