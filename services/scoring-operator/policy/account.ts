import { getAddress } from 'ethers';
import { type AccountKey, parseAccount } from '../../common/chain/address.js';

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
