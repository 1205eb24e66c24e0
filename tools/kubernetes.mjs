// `npm run test:kubernetes`: the operator against a real control plane (etcd, API server, controllers). Builds that
// control plane once, with Go, into a folder that outlives it; compiles the project; runs test/kubernetes.
import { programs } from './go/programs.mjs';
import { runSuite } from './suite.mjs';

runSuite({
  name: 'kubernetes',
  timeout_ms: 120_000,
  // Most of their time they wait: for the next minute of a CronJob, the end of a stage, a Lease that runs out.
  jobs: 3,
  longest: ['stages', 'jobs'],
  build: () => ({ KUBEBUILDER_ASSETS: process.env.KUBEBUILDER_ASSETS || programs['control-plane']() }),
  hint: `. Without it there is no control plane. Or put the programs etcd, kube-apiserver
and kube-controller-manager into a folder and name it in KUBEBUILDER_ASSETS.`,
});
