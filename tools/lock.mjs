// Checks that package-lock.json is complete for every platform that the dependencies know,
// and with --fix adds what is missing. A registry that lacks a platform's package leaves
// it out of the lock, and then `npm ci` refuses the lock on other machines. Run with --fix
// after every `npm install`.
import { readFileSync, writeFileSync } from 'node:fs';

/** Entries that optional dependencies name and the lock does not have. */
export function missingEntries(lock) {
  const missing = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const nested = path === '' ? [] : [`${path}/node_modules/${name}`];
      const found = [...nested, `node_modules/${name}`].some((place) => lock.packages[place] !== undefined);
      if (!found)
        missing.push({ name, version, entry: { ...(entry.dev ? { dev: true } : {}), ...platformOf(name) } });
    }
  }
  return missing;
}

/** What a platform package's name says about where it runs. */
function platformOf(name) {
  const words = name.split(/[-/]/);
  const os = words.find((word) => ['linux', 'darwin', 'win32', 'freebsd', 'android'].includes(word));
  const word = words.find((each) => ['x64', 'arm64', 'armv7', 'arm', 'ia32'].includes(each));
  const cpu = word === 'armv7' ? 'arm' : word;
  const libc = words.includes('musl') ? 'musl' : words.includes('gnu') ? 'glibc' : undefined;
  return {
    ...(os === undefined ? {} : { os: [os] }),
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(libc === undefined ? {} : { libc: [libc] }),
  };
}

if (process.argv[1]?.endsWith('lock.mjs')) {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const missing = missingEntries(lock);
  if (process.argv.includes('--fix') && missing.length > 0) {
    for (const { name, version, entry } of missing) {
      lock.packages[`node_modules/${name}`] = {
        version: version.replace(/^[\^~]/, ''),
        ...entry,
        optional: true,
      };
    }
    lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
    writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
  }
  for (const { name, version } of missing) console.log(`${name}@${version}`);
}
