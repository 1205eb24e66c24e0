import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { assembleWeft } from '../support/image/assembled.js';
import { secret } from '../support/image/context.js';
import { installedPackages } from '../support/image/packages.js';
import {
  baseImage,
  mountContext,
  openProjectImages,
  type ProjectImages,
  told,
} from '../support/image/project-image.js';
import { runningSuite } from '../support/image/running-suite.js';
import { differences, readTree, type TreeEntry } from '../support/image/tree.js';
import { weftImage } from '../support/node/images.js';
import { run, tryRun } from '../support/node/programs.js';

const image = 'localhost/weft';
const epoch = Number(told.SOURCE_DATE_EPOCH);

/** What npm's lock says of a package. */
interface Locked {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}

const isShipped = (locked: Locked = {}): boolean => !locked.dev && !locked.optional && !locked.devOptional;

describe('the image that the Dockerfile gives', function () {
  this.timeout(900_000);
  const manifest = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  let images: ProjectImages;
  /** Where the image's files are seen. */
  let root: string;
  let tree: Map<string, TreeEntry>;

  before(async () => {
    images = await openProjectImages();
    await images.build(images.contexts.open, ['--tag', image]);
    root = await images.buildah.container(image, 'weft');
    tree = readTree(join(root, 'weft'));
  });
  after(() => images?.close());

  it('says what it is, what it listens on, and that it runs as nobody in particular', async () => {
    const { config } = await images.buildah.facts(image);
    const base = (await images.buildah.facts(baseImage)).config as { Env: string[] };
    const ports = [8080, 7001, 7002, 7003, 7004, 7005, 7090, 9090];
    assert.deepEqual(config, {
      User: '1000:1000',
      WorkingDir: '/weft',
      Entrypoint: ['node'],
      Cmd: ['dist/services/gateway/main.js'],
      Env: [...base.Env, 'NODE_ENV=production', 'HOST=0.0.0.0', `COMMIT_HASH=${told.COMMIT_HASH}`],
      ExposedPorts: Object.fromEntries(ports.map((port) => [`${port}/tcp`, {}])),
      Labels: {
        'org.opencontainers.image.title': 'weft',
        'org.opencontainers.image.description': 'Indexer and stage-scoring operator for rollups',
        'org.opencontainers.image.licenses': 'MIT',
        'org.opencontainers.image.version': manifest.version,
        'org.opencontainers.image.revision': told.COMMIT_HASH,
      },
    });
  });

  it('is built from the files of the project alone, without those that it does not need', async () => {
    const given = readTree(await mountContext(images, images.contexts.open));
    const paths = [...given].filter(([, { type }]) => type !== 'folder').map(([path]) => path);
    assert.ok(paths.includes('package-lock.json') && paths.includes('tools/image/assemble.mjs'));
    assert.deepEqual(
      paths.filter((path) => !images.files.includes(path)),
      [],
    );
    assert.deepEqual(
      paths.filter((path) => /^(test|charts|examples|\.[^/]+)\/|\.md$/.test(path)),
      [],
    );
  });

  it('adds nothing to its base but its own folder, and no secret of who builds it', async () => {
    const { layers } = await images.buildah.facts(image);
    const base = await images.buildah.facts(baseImage);
    assert.deepEqual(layers.slice(0, base.layers.length), base.layers);
    const file = resolve(process.env['WEFT_IMAGE_ARCHIVE'] || join(images.folder, 'weft.tar'));
    await images.buildah.save(image, `${weftImage.repository}:${weftImage.tag}`, file);
    const [saved] = JSON.parse(await run('tar', ['-xOf', file, 'manifest.json'])) as [{ Layers: string[] }];
    const added = saved.Layers.slice(base.layers.length);
    assert.ok(added.length > 0);
    for (const layer of added) {
      const listed = await run('sh', ['-c', 'tar -xOf "$1" "$2" | tar -t', 'sh', file, layer]);
      const paths = listed.split('\n').filter((path) => path !== '');
      assert.deepEqual(
        paths.filter((path) => !path.startsWith('weft/')),
        [],
      );
    }
    assert.equal(await tryRun('grep', ['-rl', secret, join(root, 'weft')]), '');
  });

  it('is, file for file, what tests of the chart run on a real node', async () => {
    const assembled = join(images.folder, 'assembled');
    await assembleWeft(assembled, join(images.folder, 'dependencies'));
    assert.deepEqual(differences(tree, readTree(assembled), ['type', 'mode', 'owner', 'content']), []);
  });

  it('can be read by the user of its processes, and changed by none but root', () => {
    for (const [path, { type, mode, owner }] of tree) {
      assert.equal(owner, '0:0', path);
      if (type !== 'link') assert.match(mode, type === 'folder' ? /^755$/ : /^(644|755)$/, path);
    }
  });

  it('has neither what it was built with nor tests nor the embedded engine', () => {
    const lock = JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8')) as Lock;
    const [kept, left] = [true, false].map((is) =>
      Object.keys(lock.packages).filter((path) => path !== '' && isShipped(lock.packages[path]) === is),
    ) as [string[], string[]];
    for (const name of ['chdb', 'typescript', 'mocha', 'solc'])
      assert.ok(left.includes(`node_modules/${name}`));
    const installed = (path: string): boolean => existsSync(join(root, 'weft', path));
    assert.deepEqual(left.filter(installed), []);
    assert.deepEqual(
      kept.filter((path) => !installed(path)),
      [],
    );
    const own = [...tree.keys()].filter((path) => !path.startsWith('node_modules/'));
    assert.deepEqual(
      own.filter((path) => /(^|\/)(\.|tests?(\/|$))|\.(ts|log|md|tsbuildinfo)$|left-over/.test(path)),
      [],
    );
    assert.ok(!existsSync(join(root, 'weft/node_modules/.package-lock.json')));
  });

  describe('in a container', () =>
    runningSuite(() => ({ buildah: images.buildah, container: 'weft', paths: [...tree.keys()] })));

  it('has the time of the commit in every file and folder but the two that the build makes', () => {
    const others = [...tree].filter(([, { mtime }]) => mtime !== epoch).map(([path]) => path);
    assert.deepEqual(others, ['', 'node_modules']);
  });

  it('is the same, to its digest, when somebody else builds it from nothing', async () => {
    const names = { open: 'localhost/once', strict: 'localhost/again' };
    // What BuildKit's rewrite-timestamp does: times of all that is in the layers, and the image's own.
    const options = ['--no-cache', '--timestamp', String(epoch)];
    await Promise.all(
      (['open', 'strict'] as const).map((who) =>
        images.build(images.contexts[who], [...options, '--tag', names[who]]),
      ),
    );
    const again = readTree(join(await images.buildah.container(names.strict, 'again'), 'weft'));
    assert.deepEqual(differences(tree, again, ['type', 'mode', 'owner', 'content']), []);
    const [one, other] = [await images.buildah.facts(names.open), await images.buildah.facts(names.strict)];
    assert.deepEqual(one.layers, other.layers);
    assert.equal(one.id, other.id);
  });

  it('has a list of exactly the packages in it', async () => {
    const target = join(images.folder, 'sbom');
    await images.build(images.contexts.open, ['--target', 'sbom', '--output', target]);
    const list = JSON.parse(readFileSync(join(target, 'sbom.cdx.json'), 'utf8')) as {
      readonly bomFormat: string;
      readonly components: readonly { readonly purl: string }[];
    };
    assert.equal(list.bomFormat, 'CycloneDX');
    const listed = list.components.map(({ purl }) => decodeURIComponent(purl.replace('pkg:npm/', '')));
    assert.deepEqual([...new Set(listed)].sort(), installedPackages(join(root, 'weft'), tree.keys()));
  });
});
