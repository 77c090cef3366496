-- has_filters: whether any prompt could be matched by a filter.
-- $1 types smallint[]
SELECT EXISTS (SELECT FROM moderation.filters WHERE filter_type = ANY ($1::smallint[]))
