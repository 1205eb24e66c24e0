import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

// biome-ignore lint/suspicious/noExplicitAny: the document is examined as plain JSON
export type Json = any;

/** A validator that knows the schemas of a document and takes no keyword that means nothing. */
export function ajvOf(doc: Json): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
  ajv.addKeyword('components');
  ajv.addSchema({ $id: 'doc', components: doc.components });
  return ajv;
}

/** The schemas of an OpenAPI document, to hold answers against. */
export interface Schemas {
  readonly ajv: Ajv2020;
  validator(name: string): ValidateFunction;
  /** Fails unless a value fits a schema. */
  check(name: string, value: unknown, what?: string): void;
  /** The name of the schema that a path answers with. */
  of(path: string): string;
}

/** Reads the schemas of a document. */
export function schemasOf(doc: Json): Schemas {
  const ajv = ajvOf(doc);
  const validator = (name: string): ValidateFunction => {
    const validate = ajv.getSchema(`doc#/components/schemas/${name}`);
    assert.ok(validate, `no schema ${name}`);
    return validate;
  };
  return {
    ajv,
    validator,
    check: (name, value, what = name) => {
      const validate = validator(name);
      assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)}`);
    },
    of: (path) => doc.paths[path].get.responses[200].content['application/json'].schema.$ref.split('/').pop(),
  };
}
