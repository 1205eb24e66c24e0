// `npm run test:chart`: the Helm chart, in tiers. T0 lints it, runs the suites of its templates, and checks what is
// rendered against schemas; T1 has a real API server judge every object; T2 installs, upgrades, rolls back and
// uninstalls it in a control plane whose pods only pretend to run. Builds what it needs once, with Go, into a folder
// that outlives it. `--build` does only that; other arguments go to mocha.
import { join } from 'node:path';
import { programs } from './go/programs.mjs';
import { runSuite } from './suite.mjs';

const tools = ['helm', 'helm-unittest', 'helm-docs', 'kubeconform', 'kwok', 'promql'];

runSuite({
  name: 'chart',
  timeout_ms: 180_000,
  jobs: 2,
  longest: ['release', 'values', 'nulls'],
  build: () => ({
    ...Object.fromEntries(
      tools.map((name) => [`WEFT_${name.replace('-', '_').toUpperCase()}`, join(programs[name](), name)]),
    ),
    // Another version of it, for once.
    ...(process.env.WEFT_HELM ? { WEFT_HELM: process.env.WEFT_HELM } : {}),
    KUBEBUILDER_ASSETS: process.env.KUBEBUILDER_ASSETS || programs['control-plane'](),
  }),
});
