import { invalidArgument } from '../../common/runtime/errors.js';
import { shown } from '../errors.js';

/** A request target, taken apart but not decoded. */
export interface Target {
  /** Percent-encoded, slashes collapsed, none at the end; `/` for the root. */
  readonly path: string;
  /** What follows the `?`, without it. */
  readonly search: string;
}

/**
 * Takes a raw request target apart. An absolute target (`http://host/path`) counts by its
 * path, and a fragment is dropped. Node's parser lets no byte above ASCII through.
 */
export function parseTarget(raw: string): Target {
  const local = raw.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').replace(/#.*$/s, '');
  const question = local.indexOf('?');
  const path = question < 0 ? local : local.slice(0, question);
  const collapsed = `/${path}`.replace(/\/{2,}/g, '/');
  return {
    path: collapsed === '/' ? collapsed : collapsed.replace(/\/$/, ''),
    search: question < 0 ? '' : local.slice(question + 1),
  };
}

/** The path below a base path; undefined when it is not below it. */
export function belowBase(path: string, base_path: string): string | undefined {
  if (base_path === '' || path === base_path) return base_path === '' ? path : '/';
  return path.startsWith(`${base_path}/`) ? path.slice(base_path.length) : undefined;
}

/**
 * Percent-decodes a path segment once.
 *
 * @throws RpcError INVALID_ARGUMENT that names the parameter.
 */
export function decodeSegment(name: string, raw: string): string {
  try {
    return decodeURIComponent(raw);
  } catch {
    throw invalidArgument(`${name} is not valid percent-encoded UTF-8: ${shown(raw)}`);
  }
}

/**
 * Decoded values of those query parameters that are wanted, in order of appearance. Others
 * are ignored, however they are spelled.
 *
 * @throws RpcError INVALID_ARGUMENT for a wanted one whose value cannot be decoded.
 */
export function queryValues(search: string, wanted: ReadonlySet<string>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const pair of search === '' ? [] : search.split('&')) {
    const equals = pair.indexOf('=');
    const name = tryDecode(plain(equals < 0 ? pair : pair.slice(0, equals)));
    if (name === undefined || !wanted.has(name)) continue;
    const value = decodeSegment(name, plain(equals < 0 ? '' : pair.slice(equals + 1)));
    const values = found.get(name);
    if (values) values.push(value);
    else found.set(name, [value]);
  }
  return found;
}

/** `+` stands for a space in a query. */
const plain = (text: string): string => text.replaceAll('+', ' ');

function tryDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
