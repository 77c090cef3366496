-- list_accesses: one page of the access log, newest first; every filter may be null.
-- reads only
-- $1 before_id bigint, exclusive
-- $2 moderator_id integer
-- $3 rows integer
SELECT id, created, moderator_id, action, endpoint, event_ids, filter_names, subject_key FROM moderation.moderation_access_log
WHERE ($1::bigint IS NULL OR id < $1) AND ($2::integer IS NULL OR moderator_id = $2)
ORDER BY id DESC LIMIT $3;
