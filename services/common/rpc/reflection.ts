import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  MethodDefinition,
  Server,
  ServiceDefinition,
  UntypedHandleCall,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { packageRoot } from '../runtime/paths.js';

/** The one method of the reflection service, in each of its published versions. */
const methodName = 'ServerReflectionInfo';
const versions = ['grpc.reflection.v1', 'grpc.reflection.v1alpha'] as const;

/** A method that is ready to serve. */
interface Loaded {
  readonly definition: MethodDefinition<unknown, unknown>;
  readonly handler: UntypedHandleCall;
}

/** By path; empty until somebody asks. */
const loaded = new Map<string, Loaded>();

function load(path: string): Loaded {
  if (loaded.size === 0) {
    const descriptors = readFileSync(join(packageRoot, 'services/common/gen/descriptors.binpb'));
    // What it would add to a server is kept, so that its own way of reading messages is used.
    const kept = {
      addService(definition: ServiceDefinition, implementation: UntypedServiceImplementation): void {
        const method = definition[methodName] as MethodDefinition<unknown, unknown>;
        loaded.set(method.path, { definition: method, handler: implementation[methodName]! });
      },
    };
    new ReflectionService(loadFileDescriptorSetFromBuffer(descriptors)).addToServer(kept);
  }
  const method = loaded.get(path);
  if (method === undefined) throw new Error(`the reflection package has no ${path}`);
  return method;
}

/**
 * Adds server reflection. What it answers is made when somebody asks for the first time, and
 * once for all servers of the process: it takes longer than the rest of a start.
 */
export function addReflection(server: Pick<Server, 'addService'>): void {
  for (const version of versions) {
    const path = `/${version}.ServerReflection/${methodName}`;
    const method: MethodDefinition<unknown, unknown> = {
      path,
      requestStream: true,
      responseStream: true,
      requestSerialize: (value) => load(path).definition.requestSerialize(value),
      requestDeserialize: (bytes) => load(path).definition.requestDeserialize(bytes),
      responseSerialize: (value) => load(path).definition.responseSerialize(value),
      responseDeserialize: (bytes) => load(path).definition.responseDeserialize(bytes),
    };
    const handler = (call: never): unknown => (load(path).handler as (call: never) => unknown)(call);
    server.addService({ [methodName]: method }, { [methodName]: handler as UntypedHandleCall });
  }
}
