-- Where every token stands that is not burnt: in the list of its collection, and in those of its owner where that is an
-- account; in each list by token id, with the height 0, and by the block of its last change.
SELECT
  tupleElement(entry, 1) AS list,
  tupleElement(entry, 2) AS scope,
  tupleElement(entry, 3) AS height,
  id_key,
  collection
FROM (
  SELECT
    id_key,
    collection,
    concat(owner, '/', collection) AS holding,
    arrayJoin(arrayConcat(
      [('collection', collection, toUInt64(0)), ('collection_height', collection, changed)],
      if(
        owner = '' OR startsWith(owner, '?'),
        [],
        [
          ('owner', owner, toUInt64(0)),
          ('owner_height', owner, changed),
          ('holding', holding, toUInt64(0)),
          ('holding_height', holding, changed)
        ]
      )
    )) AS entry
  FROM (
    SELECT
      f.collection AS collection,
      f.id_key AS id_key,
      argMax(f.owner, f.at) AS owner,
      argMaxIf(f.kind, f.at, f.kind IN ('mint', 'transfer', 'burn')) AS kind,
      intDiv(maxIf(f.at, f.kind != 'named'), 2097152) AS changed
    FROM {{history}} AS f
    WHERE f.at < ({height:UInt64} + 1) * 2097152 AND {{where}}
    GROUP BY f.collection, f.id_key
    SETTINGS optimize_aggregation_in_order = 1
  )
  WHERE kind != 'burn'
)
