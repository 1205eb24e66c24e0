// `npm run test:image`: the image that the Dockerfile gives, built by Debian's buildah over a stand-in for Node's image,
// which is made once, into a folder that outlives it. Needs root, and of Debian buildah and debootstrap; takes packages
// from npm's registry as this machine does. With WEFT_IMAGE_ARCHIVE=FILE the image is left there; `npm run test:node`
// runs it with the same variable.
import { spawnSync } from 'node:child_process';
import { standIn } from './image/stand-in.mjs';
import { runSuite } from './suite.mjs';

runSuite({
  name: 'image',
  timeout_ms: 300_000,
  build: () => {
    if (process.platform !== 'linux' || process.getuid() !== 0) throw new Error('this is not root on Linux');
    const missing = ['buildah', 'debootstrap', 'git'].filter(
      (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0,
    );
    if (missing.length > 0)
      throw new Error(
        `there is no ${missing.join(', no ')}; Debian has them: apt-get install --no-install-recommends ${missing.join(' ')}`,
      );
    return { WEFT_STAND_IN: standIn() };
  },
});
