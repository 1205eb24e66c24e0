import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { isScalar, parseDocument, visit } from 'yaml';
import { packageRoot } from '../../common/runtime/paths.js';
import { jsonWithoutKeys } from './mask.js';

/** The JSON schema of policies, for editors and documentation. */
export const policySchemaFile = join(packageRoot, 'services/scoring-operator/policy/schema.json');

/** A value in a message: a long one is cut, and what may be a key is left out. */
export function shown(value: unknown): string {
  const text = jsonWithoutKeys(value);
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}

/** Made when it is first needed: compiling takes longer than anything else here. */
let validator: ValidateFunction | undefined;

function compiled(): ValidateFunction {
  validator ??= new Ajv2020({
    allErrors: true,
    discriminator: true,
    verbose: true,
    allowUnionTypes: true,
  }).compile(JSON.parse(readFileSync(policySchemaFile, 'utf8')));
  return validator;
}

/**
 * Every way in which a value does not fit the schema, in words: the path, the value, and what
 * would be right. Empty when it fits.
 */
export function schemaMistakes(value: unknown): string[] {
  const validate = compiled();
  if (validate(value)) return [];
  return [...new Set((validate.errors ?? []).map(inWords))];
}

function inWords(error: ErrorObject): string {
  const { instancePath, keyword, params, data } = error;
  const path = pathOf(instancePath);
  const at = path === '' ? 'the policy' : path;
  const member = (name: unknown): string => (path === '' ? String(name) : `${path}.${name}`);
  switch (keyword) {
    case 'additionalProperties':
      return `${member(params['additionalProperty'])} is not known here: there is ${knownIn(error)}`;
    case 'required':
      return `${member(params['missingProperty'])} is missing`;
    case 'discriminator':
      return params['error'] === 'tag'
        ? `${member('kind')} is missing`
        : `${member('kind')} is ${shown(params['tagValue'])}: there is ${kindsIn(error)}`;
    case 'enum':
      return `${at} is ${shown(data)}: must be one of ${(params['allowedValues'] as string[]).join(', ')}`;
    case 'const':
      return `${at} is ${shown(data)}: must be ${shown(params['allowedValue'])}`;
    case 'pattern':
    case 'exclusiveMinimum':
    case 'maximum':
      return `${at} is ${shown(data)}: ${meaningOf(error)}`;
    default:
      return `${at} is ${shown(data)}: ${error.message}`;
  }
}

/** /rules/2/weight as people write it: rules[2].weight. */
function pathOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, index) => (/^\d+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('');
}

/** What the schema says that a value is. */
function meaningOf({ parentSchema, message }: ErrorObject): string {
  const description = (parentSchema as { description?: string } | undefined)?.description;
  return description === undefined ? `${message}` : `must be: ${description}`;
}

function knownIn({ parentSchema }: ErrorObject): string {
  const { properties } = parentSchema as { properties: Record<string, unknown> };
  return Object.keys(properties).join(', ');
}

function kindsIn({ parentSchema }: ErrorObject): string {
  const { oneOf } = parentSchema as { oneOf: readonly { $ref: string }[] };
  return oneOf.map(({ $ref }) => $ref.split('/').at(-1)).join(', ');
}

/** A text that is neither YAML nor JSON, with where it goes wrong. */
export class PolicyTextError extends Error {
  override name = 'PolicyTextError';

  constructor(
    message: string,
    /** The same without a word of the text, which may be a secret in the wrong place. */
    readonly place = '',
  ) {
    super(message);
  }
}

/**
 * The value of a YAML or JSON text. Numbers keep what is written: a whole one below 2^53 is
 * a number, any other its own text, so that neither 0.1 nor 10^18 nor an address without
 * quotes is changed by a float on its way.
 *
 * @throws PolicyTextError
 */
export function readPolicyText(text: string): unknown {
  const document = parseDocument(text, { uniqueKeys: true, prettyErrors: true });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined)
    throw new PolicyTextError(
      problem.message.split('\n')[0] ?? problem.message,
      ` at line ${problem.linePos?.[0].line ?? '?'} (${problem.code})`,
    );
  visit(document, {
    Scalar(_, scalar) {
      if (typeof scalar.value !== 'number' && typeof scalar.value !== 'bigint') return;
      const written = scalar.source ?? String(scalar.value);
      const isPlain = /^(0|-?[1-9]\d*)$/.test(written) && Number.isSafeInteger(Number(written));
      scalar.value = isPlain ? Number(written) : written;
    },
  });
  if (document.contents === null || isScalar(document.contents)) return document.contents?.value ?? null;
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new PolicyTextError(error instanceof Error ? error.message : String(error));
  }
}
