import { BlockServiceClient } from '../common/gen/indexer/block/v1/block.js';
import { NftServiceClient } from '../common/gen/indexer/nft/v1/nft.js';
import { RichlistServiceClient } from '../common/gen/indexer/richlist/v1/richlist.js';
import { TxServiceClient } from '../common/gen/indexer/tx/v1/tx.js';
import { connectRpc } from '../common/rpc/client.js';
import type { ClientSecurity } from '../common/rpc/transport.js';

/** Clients of the services that answer for the gateway. */
export interface Clients {
  readonly block: BlockServiceClient;
  readonly tx: TxServiceClient;
  readonly nft: NftServiceClient;
  readonly richlist: RichlistServiceClient;
}

/** Opens the clients; nothing is sent before the first call. */
export function connectClients(
  addresses: {
    readonly BLOCK_SERVICE_ADDR: string;
    readonly TX_SERVICE_ADDR: string;
    readonly NFT_SERVICE_ADDR: string;
    readonly RICHLIST_SERVICE_ADDR: string;
  },
  secure?: ClientSecurity,
): Clients {
  return {
    block: connectRpc(BlockServiceClient, addresses.BLOCK_SERVICE_ADDR, secure),
    tx: connectRpc(TxServiceClient, addresses.TX_SERVICE_ADDR, secure),
    nft: connectRpc(NftServiceClient, addresses.NFT_SERVICE_ADDR, secure),
    richlist: connectRpc(RichlistServiceClient, addresses.RICHLIST_SERVICE_ADDR, secure),
  };
}

export function closeClients(clients: Clients): void {
  clients.block.close();
  clients.tx.close();
  clients.nft.close();
  clients.richlist.close();
}
