-- The collections that have a name. Of their births the certain ones count before the others, and then the first.
SELECT
  birth.collection AS collection,
  birth.born_at AS born_at,
  if(birth.creator != '', birth.creator, told.creator) AS creator,
  told.name AS name,
  told.origin_name AS origin_name,
  birth.timestamp AS timestamp
FROM (
  SELECT
    f.collection AS collection,
    argMin(f.born_at, (f.kind = 'seen', f.at)) AS born_at,
    argMin(f.creator, (f.kind = 'seen', f.at)) AS creator,
    argMin(f.timestamp, (f.kind = 'seen', f.at)) AS timestamp
  FROM {{births}} AS f
  WHERE f.at < ({height:UInt64} + 1) * 2097152 AND f.kind != 'renamed' AND {{where}}
  GROUP BY f.collection
  SETTINGS optimize_aggregation_in_order = 1
) AS birth
INNER JOIN (
  SELECT
    f.collection AS collection,
    argMax(f.creator, (f.version, f.at)) AS creator,
    argMax(f.name, (f.version, f.at)) AS name,
    argMax(f.origin_name, (f.version, f.at)) AS origin_name
  FROM {{collection_names}} AS f
  WHERE f.at < ({height:UInt64} + 1) * 2097152 AND f.version <= {details:UInt64} AND {{where}}
  GROUP BY f.collection
  SETTINGS optimize_aggregation_in_order = 1
) AS told ON told.collection = birth.collection
