import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** What a file system says of one file. */
export interface TreeEntry {
  readonly type: 'file' | 'folder' | 'link';
  /** Permissions, in octal; of a link, which has none, empty. */
  readonly mode: string;
  /** Numbers of user and group. */
  readonly owner: string;
  /** Seconds since 1970. */
  readonly mtime: number;
  /** SHA-256 of a file, target of a link. */
  readonly content: string;
}

/** Everything in a folder by its path from there, and the folder itself as an empty path; links are not followed. */
export function readTree(root: string): Map<string, TreeEntry> {
  const tree = new Map<string, TreeEntry>();
  const read = (path: string): void => {
    const entry = readEntry(join(root, path));
    tree.set(path, entry);
    if (entry.type !== 'folder') return;
    for (const name of readdirSync(join(root, path)).sort()) read(join(path, name));
  };
  read('');
  return tree;
}

function readEntry(path: string): TreeEntry {
  const found = lstatSync(path);
  const owner = `${found.uid}:${found.gid}`;
  const mtime = found.mtimeMs / 1000;
  if (found.isSymbolicLink()) return { type: 'link', mode: '', owner, mtime, content: readlinkSync(path) };
  const mode = (found.mode & 0o7777).toString(8);
  if (found.isDirectory()) return { type: 'folder', mode, owner, mtime, content: '' };
  if (!found.isFile()) throw new Error(`${path} is neither a file nor a folder`);
  return {
    type: 'file',
    mode,
    owner,
    mtime,
    content: createHash('sha256').update(readFileSync(path)).digest('hex'),
  };
}

/** In what two trees differ, one line a path; `fields` are compared of what is in both. */
export function differences(
  one: ReadonlyMap<string, TreeEntry>,
  other: ReadonlyMap<string, TreeEntry>,
  fields: readonly (keyof TreeEntry)[],
): string[] {
  return [...new Set([...one.keys(), ...other.keys()])].sort().flatMap((path) => {
    const [left, right] = [one.get(path), other.get(path)];
    if (left === undefined) return `${path}: only in the second`;
    if (right === undefined) return `${path}: only in the first`;
    return fields
      .filter((field) => left[field] !== right[field])
      .map((field) => `${path}: ${field} ${left[field]}, ${right[field]}`);
  });
}
