import { parseAllDocuments } from 'yaml';

const seen = new Map<string, readonly string[]>();

/**
 * Fields of rendered objects that are null, by kind and path; also those in JSON and YAML that stands in a text. Most
 * objects come again and again, so that each is looked at once.
 */
export function nullFields(rendered: string): string[] {
  return rendered.split(/^---$/m).flatMap((text) => {
    const known = seen.get(text) ?? nullFieldsOf(text);
    seen.set(text, known);
    return known;
  });
}

function nullFieldsOf(text: string): string[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    const object = document.toJS();
    return object === null ? [] : [...nulls(object, object.kind)];
  });
}

function* nulls(value: unknown, path: string): Generator<string> {
  if (value === null) yield path;
  else if (typeof value === 'string' && !isDashboard(path) && /:\s*null\b/.test(value))
    yield `${path} (a text)`;
  else if (typeof value === 'object')
    for (const [name, inner] of Object.entries(value)) yield* nulls(inner, `${path}.${name}`);
}

/** Grafana's own JSON, in which null says something. */
const isDashboard = (path: string): boolean => /^ConfigMap\.data\..*\.json$/.test(path);
