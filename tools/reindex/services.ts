/**
 * The services that can be rebuilt: the setting that names the port of each one's gRPC in the
 * one-process program, and its default there.
 */
export const rebuildable = {
  tx: { port_setting: 'TX_GRPC_PORT', port: '7002' },
  nft: { port_setting: 'NFT_GRPC_PORT', port: '7003' },
  richlist: { port_setting: 'RICHLIST_GRPC_PORT', port: '7004' },
} as const;

/** The name of a service that can be rebuilt. */
export type RebuildableName = keyof typeof rebuildable;
