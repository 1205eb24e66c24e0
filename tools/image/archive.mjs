// `node tools/image/archive.mjs NAME FOLDER FILE [--entrypoint a,b] [--workdir DIR] [--user UID] [--env A=B]...`: makes
// an image of a folder, without Docker, in the form that `docker load` and `ctr images import` read. It has one layer,
// in which everything belongs to root. The same folder gives the same image.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    entrypoint: { type: 'string', default: 'node' },
    workdir: { type: 'string', default: '/' },
    user: { type: 'string', default: '0' },
    env: { type: 'string', multiple: true, default: [] },
  },
});
const [name, folder, file] = positionals;
if (name === undefined || folder === undefined || file === undefined) {
  console.error('usage: node tools/image/archive.mjs NAME FOLDER FILE');
  process.exit(1);
}

/** What makes tar write the same bytes for the same files. */
const same = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mtime=@0', '--format=gnu'];

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

const work = mkdtempSync(join(tmpdir(), 'weft-image-'));
try {
  execFileSync('tar', [...same, '-C', folder, '-cf', join(work, 'layer.tar'), '.']);
  const layer = sha256(readFileSync(join(work, 'layer.tar')));
  renameSync(join(work, 'layer.tar'), join(work, `${layer}.tar`));
  const config = JSON.stringify({
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: {
      Entrypoint: values.entrypoint.split(','),
      WorkingDir: values.workdir,
      User: values.user,
      Env: ['PATH=/usr/local/bin:/usr/bin:/bin', ...values.env],
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${layer}`] },
    history: [{ created_by: 'tools/image/archive.mjs' }],
  });
  const id = sha256(config);
  writeFileSync(join(work, `${id}.json`), config);
  const manifest = [{ Config: `${id}.json`, RepoTags: [name], Layers: [`${layer}.tar`] }];
  writeFileSync(join(work, 'manifest.json'), JSON.stringify(manifest));
  const parts = [`${id}.json`, `${layer}.tar`, 'manifest.json'];
  execFileSync('tar', [...same, '-C', work, '-cf', resolve(file), ...parts]);
  console.log(`${name} sha256:${id}`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
