// `npm run test:node`: the whole chart on a real node, with pods that are containers of this machine. Needs root, and
// of Debian containerd, runc, containernetworking-plugins, nftables, iptables, iproute2 and openssl; builds Kubernetes,
// coredns, helm and what enforces network policies once, with Go, into a folder that outlives it. With
// WEFT_IMAGE_ARCHIVE=FILE pods run the image that `npm run test:image` has left there.
import { join } from 'node:path';
import { programs } from './go/programs.mjs';
import { runSuite } from './suite.mjs';

runSuite({
  name: 'node',
  timeout_ms: 300_000,
  build: () => ({
    KUBEBUILDER_ASSETS: programs['control-plane'](),
    COREDNS: join(programs.coredns(), 'coredns'),
    PAUSE: join(programs.pause(), 'pause'),
    POLICIES: join(programs.policies(), 'policies'),
    HELM: join(programs.helm(), 'helm'),
  }),
});
