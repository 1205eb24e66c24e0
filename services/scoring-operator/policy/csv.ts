import type { AccountKey } from '../../common/chain/address.js';
import { readWrittenAccount } from './account.js';
import type { Measure } from './facts.js';
import { createTally } from './measure/tally.js';

/** Mistakes that are listed one by one; of more only the number is told. After so many the rest is not read: it is no list. */
const [mistakesShown, mistakesCounted] = [20, 1_000];

/** Values of a line that are read: two are right, and of more it does not matter how many. */
const fieldsRead = 10;

/** What a file of scores says, or every mistake in it. */
export type CsvReading =
  | { readonly measure: Measure; readonly mistakes?: undefined }
  | { readonly measure?: undefined; readonly mistakes: readonly string[] };

/**
 * Reads lines of `address,score`. An optional first line `address,score`, empty lines and
 * lines that begin with # are left out; lines may end in CR LF, and spaces around the two
 * values do not matter. Scores are whole; those of 0 count for nothing. Pure.
 *
 * Mistakes say where and of what kind, and never what stands there: a source may be something else than a list.
 *
 * @param duplicates whether an account with several lines, in whatever spelling, is refused
 *   or has them added up.
 */
export function parseCsv(text: string, duplicates: 'refuse' | 'sum', account_prefix: string): CsvReading {
  const mistakes: string[] = [];
  const tally = createTally();
  const seen = new Map<AccountKey, number>();
  let isFirst = true;
  let number = 0;
  for (const line of linesOf(text)) {
    number += 1;
    if (mistakes.length >= mistakesCounted) break;
    const fields = line.split(',', fieldsRead).map((field) => field.trim());
    if (line.trim() === '' || line.startsWith('#')) continue;
    const isHeader = isFirst && /^address$/i.test(fields[0] ?? '') && /^score$/i.test(fields[1] ?? '');
    isFirst = false;
    if (isHeader && fields.length === 2) continue;
    const complain = (what: string): void => {
      mistakes.push(`line ${number}: ${what}`);
    };
    const [address = '', score = ''] = fields;
    const { account, mistake } = readWrittenAccount(address, account_prefix);
    if (fields.length !== 2) complain(`${fields.length} values instead of address,score`);
    else if (mistake !== undefined) complain(`not an address: ${mistake}`);
    else if (!/^\d{1,78}$/.test(score)) complain('the score is not a whole number');
    else {
      const before = seen.get(account);
      if (before !== undefined && duplicates === 'refuse') complain(`the same account as in line ${before}`);
      seen.set(account, before ?? number);
      tally.add(account, BigInt(score));
    }
  }
  if (mistakes.length === 0) return { measure: tally.measure() };
  const more = mistakes.length - mistakesShown;
  const count = mistakes.length < mistakesCounted ? more : `at least ${more}`;
  return {
    mistakes: [...mistakes.slice(0, mistakesShown), ...(more > 0 ? [`and ${count} more mistakes`] : [])],
  };
}

/** Lines one after the other, without the mark that some programs put first: a file may have millions. */
function* linesOf(text: string): Generator<string, void, undefined> {
  let from = text.startsWith('\uFEFF') ? 1 : 0;
  for (let end = text.indexOf('\n', from); end >= 0; end = text.indexOf('\n', from)) {
    yield text.slice(from, end);
    from = end + 1;
  }
  yield text.slice(from);
}
