// `node tools/image/assemble.mjs FOLDER`: puts what an image of weft consists of, besides node and node_modules, into
// a folder. The Dockerfile and the tests of the chart use it alike, so that what is tested is what is shipped. Needs
// a build (`node tools/build.mjs`). Times of files are those of SOURCE_DATE_EPOCH, so that the same tree gives the
// same image.
import { cpSync, existsSync, lutimesSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

/** What is read at run time; of the compiled tree the programs alone. */
const parts = [
  { path: 'package.json' },
  { path: 'LICENSE' },
  { path: 'bin' },
  { path: 'dist/services', keep: /\.js(\.map)?$/ },
  { path: 'dist/tools', keep: /\.js(\.map)?$/ },
  { path: 'services', keep: /\.(sql|json|binpb|html|css|js|yaml)$/ },
  { path: 'contracts/artifacts' },
  { path: 'tools/onboard/chain.schema.json' },
  { path: 'tools/replay/recordings', keep: /\.jsonl\.gz$/ },
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
setTimes(target);

/** Copies a file or a folder; folders of which nothing is kept are not made. */
function copy(from, to, keep) {
  if (statSync(from).isDirectory()) {
    for (const name of readdirSync(from).sort()) copy(join(from, name), join(to, name), keep);
  } else if (keep === undefined || keep.test(from)) {
    mkdirSync(to.slice(0, to.lastIndexOf(sep)), { recursive: true });
    cpSync(from, to);
  }
}

function setTimes(path) {
  if (statSync(path).isDirectory()) for (const name of readdirSync(path)) setTimes(join(path, name));
  lutimesSync(path, epoch, epoch);
}
