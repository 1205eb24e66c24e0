// Writes everything that is generated from the protos: the TypeScript code and the
// descriptor set that gRPC reflection serves. Both are committed; a test checks that
// running this again changes nothing.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

const buf = (...args) => execFileSync('npx', ['--no', 'buf', ...args], { stdio: 'inherit' });

mkdirSync('services/common/gen', { recursive: true });
buf('generate');
buf('build', '--exclude-source-info', '-o', 'services/common/gen/descriptors.binpb');
