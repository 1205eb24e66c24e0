import { decimal, exactly, listOf, ref, type Schemas, text } from './schema.js';

/** Schemas of the answers of the richlist service. */
export const richlistSchemas: Schemas = {
  'richlist.TokenHolder': exactly(
    {
      account: text('0x and 40 lower-case hex digits.', { pattern: '^0x[0-9a-f]{40}$' }),
      amount: decimal('Balance in the smallest unit, above zero, up to 2^256 - 1.'),
    },
    'Who holds how much.',
  ),
  'richlist.TokenHoldersResponse': exactly({
    holders: listOf(ref('richlist.TokenHolder')),
    pagination: ref('common.PaginationResponse'),
  }),
};
