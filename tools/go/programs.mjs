// The Go programs that tests in Kubernetes need, and the modules that pin their versions.
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { buildProgram, requiredVersion } from './build.mjs';

const folder = 'test/chart/tools';
const kubernetes = 'test/kubernetes/control-plane';

/** What Kubernetes' own programs answer when they are asked for their version. */
function kubernetesVersion(module) {
  const version = requiredVersion(module, 'k8s.io/kubernetes');
  const [major, minor] = version?.slice(1).split('.') ?? [];
  return Object.entries({ gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' })
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ');
}

/** What the one binary of Kubernetes is, by the name that it is called by. */
const kubernetesNames = [
  ...['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'],
  ...['kubelet', 'kube-proxy', 'kubectl'],
];

/** Each builds its program unless it is there, and returns the folder that it is in. */
export const programs = {
  'control-plane': () => {
    const name = 'control-plane';
    const built = buildProgram({ module: kubernetes, name, ldflags: kubernetesVersion(kubernetes) });
    // It is each of these by the name that it is called by.
    for (const link of kubernetesNames)
      if (!existsSync(join(built, link))) symlinkSync(name, join(built, link));
    return built;
  },
  helm: () => {
    const module = `${folder}/helm`;
    // What it takes for the cluster's version where it is asked for none: as its own releases do.
    const minor = requiredVersion(module, 'k8s.io/client-go')?.split('.')[1];
    const kubernetesMinor = ['pkg/chartutil', 'pkg/lint/rules'].flatMap((name) => [
      `-X helm.sh/helm/v3/${name}.k8sVersionMajor=1`,
      `-X helm.sh/helm/v3/${name}.k8sVersionMinor=${minor}`,
    ]);
    const version = `-X helm.sh/helm/v3/internal/version.version=${requiredVersion(module, 'helm.sh/helm/v3')}`;
    return buildProgram({
      module,
      name: 'helm',
      target: 'helm.sh/helm/v3/cmd/helm',
      ldflags: [version, ...kubernetesMinor].join(' '),
    });
  },
  kubeconform: () =>
    buildProgram({
      module: `${folder}/kubeconform`,
      name: 'kubeconform',
      target: 'github.com/yannh/kubeconform/cmd/kubeconform',
    }),
  'helm-docs': () =>
    buildProgram({
      module: `${folder}/helm-docs`,
      name: 'helm-docs',
      target: 'github.com/norwoodj/helm-docs/cmd/helm-docs',
    }),
  'helm-unittest': () =>
    buildProgram({
      module: `${folder}/helm-unittest`,
      name: 'helm-unittest',
      target: 'github.com/helm-unittest/helm-unittest/cmd/helm-unittest',
    }),
  coredns: () =>
    buildProgram({ module: `${folder}/coredns`, name: 'coredns', target: 'github.com/coredns/coredns' }),
  policies: () => buildProgram({ module: 'test/node/policies', name: 'policies' }),
  pause: () => buildProgram({ module: 'test/node/pause', name: 'pause' }),
  promql: () => buildProgram({ module: `${folder}/promql`, name: 'promql' }),
  kwok: () => buildProgram({ module: `${folder}/kwok`, name: 'kwok', target: 'sigs.k8s.io/kwok/cmd/kwok' }),
};
