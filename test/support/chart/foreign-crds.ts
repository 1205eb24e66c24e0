import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { eventually } from '../block.js';
import type { ControlPlane } from '../kubernetes/control-plane.js';
import { ask } from '../kubernetes/raw.js';
import { goModule } from './go-modules.js';

/** Modules that custom resources of others come in, and where they are in each. Versions are in the module's go.mod. */
const sources: Readonly<Record<string, string>> = {
  'github.com/cert-manager/cert-manager': 'deploy/crds',
  'github.com/kedacore/keda/v2': 'config/crd/bases',
  'github.com/prometheus-operator/prometheus-operator': 'example/prometheus-operator-crd',
  'sigs.k8s.io/gateway-api': 'config/crd/standard',
};

/** Those of them that the chart makes objects of. */
const kinds: ReadonlySet<string> = new Set([
  'Certificate',
  'Issuer',
  'ScaledObject',
  'ServiceMonitor',
  'PrometheusRule',
  'HTTPRoute',
]);

interface Crd {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly names: { readonly kind: string } };
}

/** The custom resources of others that objects of the chart are. @throws Error where they cannot be had. */
export function foreignCrds(): Crd[] {
  return Object.entries(sources).flatMap(([name, path]) => {
    const folder = join(goModule('crds', name), path);
    return readdirSync(folder)
      .filter((file) => file.endsWith('.yaml') && statSync(join(folder, file)).isFile())
      .flatMap((file) => parseAllDocuments(readFileSync(join(folder, file), 'utf8')))
      .map((document) => document.toJS() as Crd | null)
      .filter(
        (crd): crd is Crd => crd?.kind === 'CustomResourceDefinition' && kinds.has(crd.spec.names.kind),
      );
  });
}

let installed: Promise<void> | undefined;

/** Installs them, once. */
export function installForeignCrds(plane: ControlPlane): Promise<void> {
  installed ??= install(plane);
  return installed;
}

async function install(plane: ControlPlane): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const crds = foreignCrds();
  for (const crd of crds) {
    const { status, body } = await ask(plane, 'POST', path, crd);
    if (status !== 201)
      throw new Error(`${crd.metadata.name}: ${status} ${JSON.stringify(body).slice(0, 500)}`);
  }
  for (const { metadata } of crds)
    await eventually(async () => {
      const { body } = await ask(plane, 'GET', `${path}/${metadata.name}`);
      return ((body.status?.conditions ?? []) as { type: string; status: string }[]).some(
        ({ type, status }) => type === 'Established' && status === 'True',
      );
    }, `${metadata.name} to be established`);
  // What describes them follows a moment later.
  await eventually(
    async () => {
      const { body } = await ask(plane, 'GET', '/openapi/v2');
      const described = new Set(Object.values<Described>(body.definitions).flatMap(kindsOf));
      return crds.every(({ spec }) => described.has(spec.names.kind));
    },
    'the foreign custom resources to be described',
    60_000,
  );
}

/** A schema in the API server's description of its objects. */
interface Described {
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly kind: string }[];
}

const kindsOf = (schema: Described): string[] =>
  (schema['x-kubernetes-group-version-kind'] ?? []).map(({ kind }) => kind);
