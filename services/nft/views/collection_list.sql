-- The collections that have a name, in the order of creation, with their names as they are searched.
SELECT
  birth.born_at AS born_at,
  birth.collection AS collection,
  told.folded_name AS folded_name,
  told.folded_origin AS folded_origin
FROM (
  SELECT
    f.collection AS collection,
    argMin(f.born_at, (f.kind = 'seen', f.at)) AS born_at
  FROM {{births}} AS f
  WHERE f.at < ({height:UInt64} + 1) * 2097152 AND f.kind != 'renamed' AND {{where}}
  GROUP BY f.collection
  SETTINGS optimize_aggregation_in_order = 1
) AS birth
INNER JOIN (
  SELECT
    f.collection AS collection,
    argMax(f.folded_name, (f.version, f.at)) AS folded_name,
    argMax(f.folded_origin, (f.version, f.at)) AS folded_origin
  FROM {{collection_names}} AS f
  WHERE f.at < ({height:UInt64} + 1) * 2097152 AND f.version <= {details:UInt64} AND {{where}}
  GROUP BY f.collection
  SETTINGS optimize_aggregation_in_order = 1
) AS told ON told.collection = birth.collection
