import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import { ofOneChain } from '../common/consumer/look.js';
import {
  type RichlistServiceServer,
  RichlistServiceService,
} from '../common/gen/indexer/richlist/v1/richlist.js';
import { checkAddress, checkPage } from '../common/page/fit.js';
import { type CallContext, forward } from '../common/rpc/context.js';
import {
  countLimits,
  type ReaderEnvironment,
  type ServedService,
  streaming,
  unary,
  watchHead,
} from '../common/rpc/server.js';
import { invalidArgument, unimplemented } from '../common/runtime/errors.js';
import { balanceAt, changesBetween, holdersAt, momentOf } from './read/history.js';
import { listHolders } from './read/holders.js';
import { findToken, type Reader } from './read/reader.js';
import { servedHeight } from './store/cursor.js';

export interface RichlistRpcOptions extends ReaderEnvironment<Reader> {
  readonly vm_type: string;
}

/** The handlers of indexer.richlist.v1.RichlistService. */
export function richlistService(options: RichlistRpcOptions): ServedService {
  const implementation: RichlistServiceServer = {
    ...headHandlers(options),
    ...listHandlers(options),
    ...historyHandlers(options),
  };
  return {
    definition: RichlistServiceService,
    onLimit: countLimits('richlist', options),
    implementation: implementation as UntypedServiceImplementation,
  };
}

/** @throws RpcError UNIMPLEMENTED on rollups without EVM. */
function requireEvm({ vm_type }: RichlistRpcOptions): void {
  if (vm_type !== 'evm') throw unimplemented(`a ${vm_type} rollup has no rich list`);
}

function headHandlers(options: RichlistRpcOptions): Pick<RichlistServiceServer, 'getStatus' | 'watchHead'> {
  return {
    getStatus: unary(options, async () => {
      const { head } = options.reader();
      const height = servedHeight(head.position);
      const [first_height, hash] = height === 0 ? [0, ''] : [head.position.seed_height, head.position.hash];
      return { rich_list_height: height, first_height, hash };
    }),
    watchHead: watchHead(options, ({ position, revision }) => ({ height: servedHeight(position), revision })),
  };
}

function listHandlers(options: RichlistRpcOptions): Pick<RichlistServiceServer, 'listHolders'> {
  return {
    listHolders: unary(options, async ({ denom, pagination }, call) => {
      requireEvm(options);
      const page = checkPage(pagination);
      return ofOneChain(options.reader, async (reader) => {
        const token = await findToken(reader, denom, forward(call));
        const { items, pagination: shown } = await listHolders(reader, token, page, forward(call));
        return { holders: items, pagination: shown };
      });
    }),
  };
}

/** Finds a token and a window of heights, both of one chain, for a stream to begin with. */
const findPast = (
  { reader }: RichlistRpcOptions,
  denom: string,
  [from, to]: readonly [from: number, to: number],
  call: CallContext,
) =>
  ofOneChain(reader, async (found) => ({
    reader: found,
    token: await findToken(found, denom, forward(call)),
    moment: momentOf(found, from, to),
  }));

function historyHandlers(
  options: RichlistRpcOptions,
): Pick<RichlistServiceServer, 'getBalance' | 'streamHolders' | 'streamChanges'> {
  const { account_prefix } = options;
  return {
    getBalance: unary(options, async ({ denom, account, height }, call) => {
      requireEvm(options);
      const key = checkAddress('account', account, account_prefix);
      return ofOneChain(options.reader, async (reader) => {
        const token = await findToken(reader, denom, forward(call));
        return balanceAt(reader, token, key, momentOf(reader, height, height), forward(call));
      });
    }),
    streamHolders: streaming(options, async function* ({ denom, height }, call) {
      requireEvm(options);
      const { reader, token, moment } = await findPast(options, denom, [height, height], call);
      for await (const holders of holdersAt(reader, token, moment, forward(call))) yield { holders };
    }),
    streamChanges: streaming(options, async function* ({ denom, from_height, to_height }, call) {
      requireEvm(options);
      if (to_height !== 0 && from_height > to_height)
        throw invalidArgument(`from_height ${from_height} is above to_height ${to_height}`);
      const { reader, token, moment } = await findPast(options, denom, [from_height, to_height], call);
      for await (const changes of changesBetween(reader, token, moment, forward(call))) yield { changes };
    }),
  };
}
