import type { PageRequest, PageResponse } from '../../common/gen/indexer/common/v1/common.js';
import { densePage } from '../../common/page/dense.js';
import { heightOf } from '../store/place.js';
import { tokenKey } from '../token-key.js';
import { countTokenTxs, readTokenTxs } from './history.js';
import type { Reading } from './reader.js';
import { readShown } from './shown.js';

/** A page of a token's txs. */
export interface TokenTxPage {
  /** 64 lower-case hex digits each, in the order of the page. */
  readonly hashes: string[];
  /** Highest block that one of them is in; 0 when there are none. */
  readonly height: number;
  readonly pagination: PageResponse;
}

/** The txs of a token, also of one that is burnt; none when its collection is not shown. */
export async function listTokenTxs(
  reading: Reading,
  collection: string,
  token_id: string,
  request: PageRequest,
): Promise<TokenTxPage> {
  const id_key = tokenKey(token_id);
  const [shown, txs_of_token] = await Promise.all([
    readShown(reading, [collection]),
    countTokenTxs(reading, collection, id_key),
  ]);
  const count = shown.has(collection) ? txs_of_token : 0;
  const { from, to, pagination } = densePage(request, {
    name: `txs/${collection}/${id_key}`,
    first: 1,
    last: count,
  });
  const txs = from > to ? [] : await readTokenTxs(reading, collection, id_key, from, to);
  if (request.reverse) txs.reverse();
  return {
    hashes: txs.map(({ tx_hash }) => tx_hash),
    height: Math.max(0, ...txs.map(({ at }) => heightOf(at))),
    pagination,
  };
}
