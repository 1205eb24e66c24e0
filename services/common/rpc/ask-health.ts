import { makeGenericClientConstructor } from '@grpc/grpc-js';
import { service as definition } from 'grpc-health-check';
import { callRpc, connectRpc, type UnaryMethod } from './client.js';
import type { ClientSecurity } from './transport.js';

const HealthClient = makeGenericClientConstructor(definition, 'grpc.health.v1.Health');

/**
 * Asks a server's grpc.health.v1.
 *
 * @param service the name of a service, or '' for the server as a whole.
 * @returns its status: SERVING, NOT_SERVING or UNKNOWN.
 * @throws RpcError when the server is not reached or does not know the name.
 */
export async function askHealth(
  address: string,
  service: string,
  { deadline, security }: { readonly deadline?: number; readonly security?: ClientSecurity } = {},
): Promise<string> {
  const client = connectRpc(HealthClient, address, security);
  const check = client['check'] as unknown as UnaryMethod<{ service: string }, { readonly status: string }>;
  try {
    return (await callRpc(check.bind(client), { service }, { deadline })).status;
  } finally {
    client.close();
  }
}
