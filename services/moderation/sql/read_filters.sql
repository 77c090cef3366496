-- read_filters: every filter of the types that are matched, in the order of their ids.
-- $1 types smallint[]
SELECT id, filter_type, regex, replacement
FROM moderation.filters
WHERE filter_type = ANY ($1::smallint[])
ORDER BY id
