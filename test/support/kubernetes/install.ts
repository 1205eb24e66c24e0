import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CustomObjectsApi, type KubeConfig, type KubernetesObject } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { packageRoot } from '../../../services/common/runtime/paths.js';
import { eventually } from '../block.js';

const folder = join(packageRoot, 'services/scoring-operator/operator');

/** The objects of a YAML file that ships with the operator. */
export function shipped(path: string): KubernetesObject[] {
  return parseAllDocuments(readFileSync(join(folder, path), 'utf8')).map(
    (document) => document.toJS() as KubernetesObject,
  );
}

/** Installs the custom resource and waits until it is served. */
export async function installCrd(config: KubeConfig): Promise<void> {
  // As plain JSON: the library's own class for it would lose the rules and the defaults.
  const api = config.makeApiClient(CustomObjectsApi);
  const kind = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' };
  const [body] = shipped('crd/scoringprogram.yaml');
  await api.createClusterCustomObject({ ...kind, body });
  await eventually(async () => {
    const found = (await api.getClusterCustomObject({
      ...kind,
      name: body?.metadata?.name as string,
    })) as { status?: { conditions?: { type: string; status: string }[] } };
    return (found.status?.conditions ?? []).some(
      ({ type, status }) => type === 'Established' && status === 'True',
    );
  }, 'the custom resource to be established');
}
