import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { chart } from './helm.js';

/** A value of values.yaml that holds no further names: its path, and its default. */
export interface Leaf {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The chart's own values. */
export const ownValues = (): Record<string, unknown> =>
  parse(readFileSync(join(chart, 'values.yaml'), 'utf8'));

/** Every leaf of values; empty maps are leaves, too. */
export function leavesOf(value: unknown, path: readonly string[] = []): Leaf[] {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isMap || Object.keys(value).length === 0) return [{ path, value }];
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...path, name]));
}

/** Every map of values that has names in it, by its path. */
export function mapsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0)
    return [];
  return [path, ...Object.entries(value).flatMap(([name, inner]) => mapsOf(inner, [...path, name]))];
}

/** Values with only that one set. */
export function only(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner, name) => ({ [name]: inner }), value);
}
