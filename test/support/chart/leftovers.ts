import type { ControlPlane } from '../kubernetes/control-plane.js';
import { ask } from '../kubernetes/raw.js';

/**
 * Everything with a label in a namespace, and of the cluster itself, as `Kind name`: what a release has left behind.
 */
export async function labelled(plane: ControlPlane, namespace: string, selector: string): Promise<string[]> {
  const query = `?labelSelector=${encodeURIComponent(selector)}`;
  const { body: groups } = await ask(plane, 'GET', '/apis');
  const versions = (groups.groups as { preferredVersion: { groupVersion: string } }[]).map(
    ({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`,
  );
  const found: string[] = [];
  for (const path of ['/api/v1', ...versions]) {
    const { body } = await ask(plane, 'GET', path);
    for (const { name, kind, verbs, namespaced } of (body.resources ?? []) as {
      name: string;
      kind: string;
      verbs: string[];
      namespaced: boolean;
    }[]) {
      if (name.includes('/') || !verbs.includes('list')) continue;
      const { body: listed } = await ask(
        plane,
        'GET',
        `${path}/${namespaced ? `namespaces/${namespace}/` : ''}${name}${query}`,
      );
      for (const { metadata } of (listed.items ?? []) as { metadata: { name: string } }[])
        found.push(`${kind} ${metadata.name}`);
    }
  }
  return found.sort();
}
