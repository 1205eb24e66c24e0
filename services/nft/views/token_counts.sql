-- How many tokens every account has in every collection, and with the account '' how many the collection has.
SELECT
  f.account AS account,
  f.collection AS collection,
  toUInt64(sum(f.change)) AS token_count
FROM {{account_history}} AS f
WHERE f.at < ({height:UInt64} + 1) * 2097152 AND {{where}}
GROUP BY f.account, f.collection
HAVING sum(f.change) > 0
SETTINGS optimize_aggregation_in_order = 1
