import { getAddress } from 'ethers';
import { type AccountKey, parseAccount } from '../../common/chain/address.js';
import { createTally } from './measure.js';
import type { Measure } from './policy.js';

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

/**
 * An account as a person has written it down, or what is wrong with it. Stricter than what nodes write: hex must have
 * all its digits, and its checksum must be right where it has one (letters of both cases), because a digit that is
 * lost or mistyped would give somebody else's score.
 */
export function readWrittenAccount(
  text: string,
  prefix: string,
):
  | { readonly account: AccountKey; readonly mistake?: undefined }
  | { readonly account?: undefined; readonly mistake: string } {
  const account = parseAccount(text, prefix);
  if (account === undefined)
    return { mistake: `neither bech32 with the prefix ${prefix} nor 0x and hex digits` };
  if (!/^0x/i.test(text)) return { account };
  const digits = text.slice(2);
  if (digits.length !== 40 && digits.length !== 64)
    return { mistake: `${digits.length} hex digits, and an account has 40` };
  const hasChecksum = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (digits.length === 40 && hasChecksum && getAddress(`0x${digits.toLowerCase()}`) !== `0x${digits}`)
    return { mistake: 'its checksum is wrong: a digit, or the case of a letter, is another one' };
  return { account };
}
