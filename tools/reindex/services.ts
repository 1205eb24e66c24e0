/**
 * The services that can be rebuilt: the setting that names the port of each one's gRPC in the
 * one-process program, and its default there.
 */
export const rebuildable = {
  tx: { port_setting: 'TX_GRPC_PORT', port: '7002' },
} as const;

/** The name of a service that can be rebuilt. */
export type RebuildableName = keyof typeof rebuildable;
