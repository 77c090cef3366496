-- delete_filter: a filter goes.
-- $1 id int
DELETE FROM moderation.filters WHERE id = $1
