-- The end of every account's list: its length, and the sequences of its last items, the newest first.
SELECT
  f.list AS list,
  f.account AS account,
  max(f.ord) AS length,
  arrayMap(negated -> toUInt64(-negated), groupArraySorted(16)(-toInt64(f.sequence))) AS latest
FROM {{account_items}} AS f
WHERE f.sequence <= multiIf(
    f.list IN ('tx', 'signed_tx'), {tx:UInt64},
    f.list IN ('evm_tx', 'sent_evm_tx'), {evm_tx:UInt64},
    {internal_tx:UInt64})
  AND {{where}}
GROUP BY f.list, f.account
SETTINGS optimize_aggregation_in_order = 1
