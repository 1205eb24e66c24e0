-- Every token that ever was, as its last change leaves it. A position is the height times 2^21, and the place in the block.
SELECT
  f.collection AS collection,
  f.id_key AS id_key,
  argMax(f.object, f.at) AS object,
  argMax(f.owner, f.at) AS owner,
  argMax(f.uri, f.at) AS uri,
  argMaxIf(f.kind, f.at, f.kind IN ('mint', 'transfer', 'burn')) = 'burn' AS burnt,
  -- A transfer of a token that is not there creates it.
  maxIf(f.at, f.kind = 'mint' OR (f.kind = 'transfer' AND f.previous_owner = '')) AS minted_at,
  intDiv(maxIf(f.at, f.kind != 'named'), 2097152) AS height,
  argMaxIf(f.timestamp, f.at, f.kind != 'named') AS timestamp,
  argMax(f.ord, f.at) AS tx_count,
  argMaxIf(f.tx_hash, f.at, f.listed) AS last_tx,
  max(f.at) AS at
FROM {{history}} AS f
WHERE f.at < ({height:UInt64} + 1) * 2097152 AND {{where}}
GROUP BY f.collection, f.id_key
SETTINGS optimize_aggregation_in_order = 1
