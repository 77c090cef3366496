-- list_accesses_of_event: as list_accesses, of one event. Its lines are few and found by their own index before they are put in order: a
-- plan that reads the log in order until it has a page of them would read all of it.
-- reads only
-- $1 before_id bigint, exclusive
-- $2 moderator_id integer
-- $3 event_id bigint
-- $4 rows integer
WITH found AS MATERIALIZED (
    SELECT id, created, moderator_id, action, endpoint, event_ids, filter_names, subject_key FROM moderation.moderation_access_log
    WHERE event_ids @> ARRAY[$3::bigint]
)
SELECT * FROM found WHERE ($1::bigint IS NULL OR id < $1) AND ($2::integer IS NULL OR moderator_id = $2)
ORDER BY id DESC LIMIT $4;
