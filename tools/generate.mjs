// Writes everything that is generated from the protos: the TypeScript code and the
// descriptor set that gRPC reflection serves. Both are committed; a test checks that
// running this again changes nothing.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

const out = process.argv[2] ?? 'services/common/gen';
const buf = (...args) => execFileSync('node_modules/.bin/buf', args, { stdio: 'inherit' });

mkdirSync(out, { recursive: true });
const template = {
  version: 'v2',
  clean: true,
  inputs: [{ directory: 'proto' }],
  plugins: [
    {
      local: ['node', 'node_modules/ts-proto/protoc-gen-ts_proto'],
      out,
      opt: [
        'env=node',
        'esModuleInterop=true',
        'importSuffix=.js',
        'outputServices=grpc-js',
        // One spelling from column to JSON.
        'snakeToCamel=false',
        'useOptionals=none',
        // The decoded messages serialise as they are; toJSON would drop empty lists.
        'outputJsonMethods=false',
        'outputPartialMethods=false',
        'useExactTypes=false',
        // Heights fit a number; what can pass 2^53 travels as a string.
        'forceLong=number',
        'removeEnumPrefix=true',
      ],
    },
  ],
};
buf('generate', '--template', JSON.stringify(template));
buf('build', '--exclude-source-info', '-o', join(out, 'descriptors.binpb'));
