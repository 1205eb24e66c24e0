import { type Client, loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { protoPath } from 'grpc-health-check';
import { callRpc, connectRpc, type UnaryMethod } from './client.js';
import type { ClientSecurity } from './transport.js';

type Answer = { readonly status: 'UNKNOWN' | 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN' };

interface HealthClient extends Client {
  readonly check: UnaryMethod<{ readonly service: string }, Answer>;
}

/**
 * Asks a server's grpc.health.v1.
 *
 * @param service the name of a service, or '' for the server as a whole.
 * @returns whether it is SERVING.
 * @throws RpcError when the server is not reached or does not know the name.
 */
export async function askHealth(
  address: string,
  service: string,
  { deadline, security }: { readonly deadline?: number; readonly security?: ClientSecurity } = {},
): Promise<boolean> {
  const loaded = loadPackageDefinition(loadSync(protoPath, { enums: String })) as unknown as {
    readonly grpc: {
      readonly health: { readonly v1: { readonly Health: new (...args: never[]) => HealthClient } };
    };
  };
  const client = connectRpc(loaded.grpc.health.v1.Health as never, address, security) as HealthClient;
  try {
    const { status } = await callRpc(client.check.bind(client), { service }, { deadline });
    return status === 'SERVING';
  } finally {
    client.close();
  }
}
