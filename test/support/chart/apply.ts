import assert from 'node:assert/strict';
import type { ControlPlane } from '../kubernetes/control-plane.js';
import { ask, type RawAnswer } from '../kubernetes/raw.js';
import type { Rendered } from './helm.js';

interface Place {
  readonly plural: string;
  readonly namespaced: boolean;
}

/** Where objects of a kind are, as `apps/v1 Deployment`, by API server. */
const places = new WeakMap<ControlPlane, Map<string, Place>>();

/**
 * Applies an object on the server's side, as an administrator; fields that are not known are refused.
 *
 * @param namespace of objects that name none.
 * @param more parameters, such as `&dryRun=All`.
 */
export async function applyObject(
  plane: ControlPlane,
  object: Rendered,
  namespace: string,
  more = '',
): Promise<RawAnswer> {
  const group = object.apiVersion.includes('/') ? `/apis/${object.apiVersion}` : `/api/${object.apiVersion}`;
  const { plural, namespaced } = await placeOf(plane, object, group);
  const own = object.metadata.namespace ?? namespace;
  const path = `${group}/${namespaced ? `namespaces/${own}/` : ''}${plural}/${object.metadata.name}`;
  return ask(
    plane,
    'PATCH',
    `${path}?fieldManager=test&force=true&fieldValidation=Strict${more}`,
    object,
    'application/apply-patch+yaml',
  );
}

async function placeOf(plane: ControlPlane, { apiVersion, kind }: Rendered, group: string): Promise<Place> {
  const known = places.get(plane) ?? new Map<string, Place>();
  places.set(plane, known);
  const key = `${apiVersion} ${kind}`;
  if (!known.has(key)) {
    const { body } = await ask(plane, 'GET', group);
    for (const { name, kind: listed, namespaced } of body.resources ?? [])
      if (!name.includes('/')) known.set(`${apiVersion} ${listed}`, { plural: name, namespaced });
  }
  const place = known.get(key);
  assert.ok(place !== undefined, `the API server does not know ${key}`);
  return place;
}
