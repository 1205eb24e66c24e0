import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../folder.js';
import { type Buildah, openBuildah } from './buildah.js';
import { copyProject } from './context.js';
import { registryOptions } from './registry.js';

/** The base that the Dockerfile names. */
export const baseImage = 'docker.io/library/node:20-bookworm-slim';

/** What builds are told of the tree. */
export const told = { COMMIT_HASH: 'c0ffee0123456789', SOURCE_DATE_EPOCH: '1700000000' } as const;

/** The Dockerfile, its base, and two copies of the project to build. */
export interface ProjectImages {
  readonly buildah: Buildah;
  /** A folder for whatever else tests write. */
  readonly folder: string;
  /** Checked out by somebody whose files others may read, and by somebody whose files nobody else may. */
  readonly contexts: { readonly open: string; readonly strict: string };
  /** Paths of the files of the project. */
  readonly files: readonly string[];
  /** Builds one of the copies with the project's Dockerfile. */
  build(context: string, options: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Makes the base from the stand-in that `npm run test:image` names in WEFT_STAND_IN. */
export async function openProjectImages(): Promise<ProjectImages> {
  const standIn = process.env['WEFT_STAND_IN'];
  if (standIn === undefined) throw new Error('WEFT_STAND_IN is not set: run npm run test:image');
  const folder = temporaryFolder('image');
  const contexts = { open: join(folder, 'open'), strict: join(folder, 'strict') };
  const files = await copyProject(contexts.open, [0o775, 0o664]);
  await copyProject(contexts.strict, [0o700, 0o600]);
  const registry = await registryOptions(folder);
  const buildah = await openBuildah();
  const args = Object.entries(told).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  try {
    await buildah.build(standIn, ['--file', join(standIn, 'Containerfile'), '--tag', baseImage]);
  } catch (error) {
    await buildah.close();
    throw error;
  }
  return {
    buildah,
    folder,
    contexts,
    files,
    build: (context, options) =>
      buildah.build(context, [...registry, ...args, '--file', join(context, 'Dockerfile'), ...options]),
    close: () => buildah.close(),
  };
}

/** Builds an image that has in it what a build of a copy of the project is given. @returns its files' folder */
export async function mountContext({ buildah, folder }: ProjectImages, context: string): Promise<string> {
  mkdirSync(join(folder, 'whole'), { recursive: true });
  const file = join(folder, 'whole/Containerfile');
  writeFileSync(file, 'FROM scratch\nCOPY . /\n');
  await buildah.build(context, ['--file', file, '--tag', 'localhost/context']);
  return buildah.container('localhost/context', 'context');
}
