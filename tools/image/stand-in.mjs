// A stand-in for Node's image, for machines that reach no registry of images: Debian's own files from Debian's mirror,
// with the node of this machine and the npm that Node 20 ships with, which leaves behind other things than newer ones. It is
// what Node's slim image is made of, and has its user and its configuration, so that what a Dockerfile says differently is
// seen.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The release of Debian that the Dockerfile's base is made of. */
const release = 'bookworm';

/** What Node's image of version 20 has. */
const npmVersion = '10.8.2';

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What the machine gives programs that look for registries and certificates is not there inside. */
const bare = { PATH: process.env.PATH, HOME: '/root', DEBIAN_FRONTEND: 'noninteractive' };

/** Where stand-ins are kept. */
const cache = process.env.WEFT_IMAGE_CACHE || join(homedir(), '.cache/weft-image');

/**
 * Makes the stand-in unless it is there: one for each version of node.
 *
 * @returns {string} the folder that it is built from, with a Containerfile
 * @throws Error where Debian's files cannot be had, or where this machine's node does not run on them
 */
export function standIn() {
  const recipe = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)));
  const name = `${release}-node${process.versions.node}-npm${npmVersion}-${recipe.digest('hex').slice(0, 8)}`;
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  console.log(`a stand-in for Node's image: making it in ${folder}, once`);
  const unfinished = `${folder}.${process.pid}`;
  try {
    make(unfinished);
    renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

function make(folder) {
  const root = join(folder, 'rootfs');
  mkdirSync(root, { recursive: true });
  run('debootstrap', ['--variant=minbase', release, root]);
  const inside = (...command) => run('chroot', [root, ...command], { ...bare, PATH: path });
  inside('apt-get', 'clean');
  inside('groupadd', '--gid', '1000', 'node');
  inside(...['useradd', '--uid', '1000', '--gid', 'node', '--shell', '/bin/bash', '--create-home', 'node']);
  const binaries = join(root, 'usr/local/bin');
  const node = realpathSync(process.execPath);
  cpSync(node, join(binaries, 'node'));
  for (const library of librariesOf(node)) {
    if (existsSync(join(root, library))) continue;
    mkdirSync(dirname(join(root, library)), { recursive: true });
    cpSync(realpathSync(library), join(root, library));
  }
  // From the registry of this machine, as builds take packages from it.
  const options = [
    '--global',
    '--prefix',
    join(root, 'usr/local'),
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
  ];
  run('npm', ['install', ...options, `npm@${npmVersion}`], process.env);
  inside('node', '--version');
  inside('npm', '--version');
  writeFileSync(
    join(folder, 'Containerfile'),
    `FROM scratch
COPY rootfs /
ENV PATH=${path} NODE_VERSION=${process.versions.node}
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["node"]
`,
  );
}

/** Paths of the libraries that a program is linked to, the loader among them. */
function librariesOf(program) {
  const lines = run('ldd', [program]).split('\n');
  return lines.flatMap((line) => /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1] ?? []);
}

function run(command, args, env = bare) {
  try {
    return execFileSync(command, args, { encoding: 'utf8', env, stdio: 'pipe', maxBuffer: 64 << 20 });
  } catch (error) {
    const said = `${error.stdout ?? ''}${error.stderr ?? ''}`.trim().split('\n').slice(-5).join('\n');
    throw new Error(`${command} ${args.join(' ')}: ${said || error.message}`);
  }
}
