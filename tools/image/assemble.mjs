// `node tools/image/assemble.mjs FOLDER`: puts what an image of weft consists of, besides node and node_modules, into
// a folder. The Dockerfile and the tests of the chart use it alike, so that what is tested is what is shipped. Needs
// a build (`node tools/build.mjs`). Times of files are those of SOURCE_DATE_EPOCH, and modes do not depend on the umask
// that the tree was checked out with, so that the same tree gives the same image, which any user can read.
import { chmodSync, cpSync, existsSync, lutimesSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

/** What is read at run time; of the compiled tree the programs alone. */
const parts = [
  { path: 'package.json' },
  { path: 'LICENSE' },
  { path: 'bin' },
  { path: 'dist/services', keep: isCompiled },
  { path: 'dist/tools', keep: isCompiled },
  { path: 'services', keep: (file) => /\.(sql|json|binpb|html|css|js|yaml)$/.test(file) },
  { path: 'contracts/artifacts' },
  { path: 'tools/onboard/chain.schema.json' },
  { path: 'tools/replay/recordings', keep: (file) => /\.jsonl\.gz$/.test(file) },
];

const target = process.argv[2];
if (target === undefined) {
  console.error('usage: node tools/image/assemble.mjs FOLDER');
  process.exit(1);
}
if (existsSync(target) && readdirSync(target).length > 0) {
  console.error(`${target} is not empty`);
  process.exit(1);
}
for (const { path, keep } of parts) {
  if (!existsSync(path)) {
    console.error(`there is no ${path}: build first, with node tools/build.mjs`);
    process.exit(1);
  }
  copy(path, join(target, path), keep);
}
const epoch = Number(process.env.SOURCE_DATE_EPOCH || 0);
makeSame(target);

/** Whether a file is a program whose source is there: of one that is gone, what it was compiled to may be left. */
function isCompiled(file) {
  const source = file.replace(/^dist./, '').replace(/\.js(\.map)?$/, '.ts');
  return source.endsWith('.ts') && existsSync(source);
}

/** Copies a file or a folder; folders of which nothing is kept are not made. */
function copy(from, to, keep) {
  if (statSync(from).isDirectory()) {
    for (const name of readdirSync(from).sort()) copy(join(from, name), join(to, name), keep);
  } else if (keep === undefined || keep(from)) {
    mkdirSync(to.slice(0, to.lastIndexOf(sep)), { recursive: true });
    cpSync(from, to);
  }
}

/** Gives files and folders the mode and the time that they have whoever makes them, and whenever. */
function makeSame(path) {
  const found = statSync(path);
  if (found.isDirectory()) for (const name of readdirSync(path)) makeSame(join(path, name));
  chmodSync(path, found.isDirectory() || found.mode & 0o111 ? 0o755 : 0o644);
  lutimesSync(path, epoch, epoch);
}
