-- The balance of every account that ever had one, in every token, after its last change.
SELECT
  f.token AS token,
  f.account AS account,
  argMax(f.amount, f.ord) AS amount,
  argMax(f.height, f.ord) AS height,
  argMax(f.source, f.ord) AS source,
  max(f.ord) AS ord
FROM {{changes}} AS f
WHERE f.ord <= {last_ord:UInt64} AND {{where}}
GROUP BY f.token, f.account
SETTINGS optimize_aggregation_in_order = 1
