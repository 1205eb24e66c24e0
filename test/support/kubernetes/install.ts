import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type KubeConfig, type KubernetesObject, KubernetesObjectApi } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { packageRoot } from '../../../services/common/paths.js';
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
  const api = KubernetesObjectApi.makeApiClient(config);
  const [crd] = shipped('crd/scoringprogram.yaml');
  await api.create(crd as KubernetesObject);
  await eventually(async () => {
    const found = (await api.read(crd as never)) as {
      status?: { conditions?: { type: string; status: string }[] };
    };
    return (found.status?.conditions ?? []).some(
      ({ type, status }) => type === 'Established' && status === 'True',
    );
  }, 'the custom resource to be established');
}
