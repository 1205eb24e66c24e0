-- The holders of every token, the largest amount first: a place is the amount with its bits inverted.
SELECT token, bitNot(balance) AS place, account
FROM (
  SELECT f.token AS token, f.account AS account, argMax(f.amount, f.ord) AS balance
  FROM {{changes}} AS f
  WHERE f.ord <= {last_ord:UInt64} AND {{where}}
  GROUP BY f.token, f.account
  SETTINGS optimize_aggregation_in_order = 1
)
WHERE balance > 0
