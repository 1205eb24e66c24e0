-- How many holders every token has.
SELECT token, count() AS holder_count
FROM (
  SELECT f.token AS token, argMax(f.amount, f.ord) AS balance
  FROM {{changes}} AS f
  WHERE f.ord <= {last_ord:UInt64} AND {{where}}
  GROUP BY f.token, f.account
  SETTINGS optimize_aggregation_in_order = 1
)
WHERE balance > 0
GROUP BY token
