import type { Call } from '../../common/clickhouse/database.js';
import type { TableReader } from '../../common/consumer/look.js';
import { quoted } from '../../common/page/fit.js';
import { notFound } from '../../common/runtime/errors.js';
import { contractInDenom } from '../node/denoms.js';
import type { Position } from '../store/cursor.js';
import type { Tables } from '../store/tables.js';

/** Everything that the list is read with. */
export type Reader = TableReader<Tables, Position>;

/** The contract that a text names by its address, lower-case hex without 0x. */
const contractIn = (denom: string): string | undefined =>
  /^0x([0-9a-f]{40})$/.exec(denom.toLowerCase())?.[1] ?? contractInDenom(denom);

/** A denom is at most 128 characters long; what is longer need not be looked for. */
const longestDenom = 256;

/** Denoms that are named where a text fits several. */
const denomsNamed = 5;

/**
 * The token that a text names: by the address of its contract, by the denom as it is spelled,
 * or else in any case, when it fits one only.
 *
 * @throws RpcError NOT_FOUND
 */
export async function findToken(
  { database, tables, head }: Reader,
  denom: string,
  call: Call,
): Promise<string> {
  const { last_ord } = head.position;
  const contract = contractIn(denom);
  if (contract !== undefined) {
    const [token] = await database.rows<{ token: string }>(
      `SELECT token FROM ${tables.of('tokens')} WHERE token = {contract:String} AND ord <= {last_ord:UInt64} LIMIT 1`,
      { contract, last_ord },
      { name: 'richlist.token', ...call },
    );
    if (token !== undefined) return token.token;
    throw notFound(`denom ${quoted(denom)} is not known`);
  }
  const rows =
    denom.length > longestDenom
      ? []
      : await database.rows<{ denom: string; token: string }>(
          `SELECT DISTINCT denom, token
           FROM ${tables.of('denoms')}
           WHERE folded = {folded:String} AND ord <= {last_ord:UInt64}
           ORDER BY denom = {denom:String} DESC, denom
           LIMIT {most:UInt64}`,
          { folded: denom.toLowerCase(), denom, last_ord, most: denomsNamed },
          { name: 'richlist.denom', ...call },
        );
  const fitting = rows.filter((row) => row.denom === denom);
  const found = fitting.length > 0 ? fitting : rows;
  const [first, second] = found;
  if (first === undefined) throw notFound(`denom ${quoted(denom)} is not known`);
  if (second !== undefined)
    throw notFound(`denom ${quoted(denom)} fits several: ${found.map((row) => row.denom).join(', ')}`);
  return first.token;
}
