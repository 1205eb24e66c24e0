import { parseArgs } from 'node:util';
import { NftServiceClient } from '../../services/common/gen/indexer/nft/v1/nft.js';
import { callRpc, connectRpc } from '../../services/common/rpc/client.js';
import { UserError } from '../../services/common/runtime/errors.js';
import { clientSecurity } from '../transport.js';

const usage = `weft retry-details: asks the node again for names and uris of NFTs that were given up

  --collection ADDRESS  only those of this collection, bech32 or 0x hex (default all)
  --addr HOST:PORT      gRPC address of the nft service that indexes (default NFT_SERVICE_ADDR, else 127.0.0.1:7003)
`;

/** How long the service may take, in milliseconds. */
const patience_ms = 60_000;

/** `weft retry-details`. */
export async function runRetryDetails(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      collection: { type: 'string', default: '' },
      addr: { type: 'string', default: process.env['NFT_SERVICE_ADDR'] ?? '127.0.0.1:7003' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const client = connectRpc(NftServiceClient, values.addr, clientSecurity());
  try {
    const { retried } = await callRpc(
      client.retryDetails.bind(client),
      { collection_addr: values.collection },
      { deadline: Date.now() + patience_ms },
    );
    process.stdout.write(`${retried} ${retried === 1 ? 'detail is' : 'details are'} asked for again\n`);
  } catch (error) {
    throw new UserError(`the nft service at ${values.addr} did not do it: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    client.close();
  }
}
