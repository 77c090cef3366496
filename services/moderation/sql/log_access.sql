-- log_access: who was given which texts, or wrote about which event.
-- $1 moderator_id integer
-- $2 action varchar
-- $3 endpoint varchar
-- $4 event_ids bigint[]
-- $5 filter_names text[]
-- $6 subject_key varchar, the pseudonym that was searched for
-- $7 request_ip_key varchar, the pseudonym of the moderator's address
INSERT INTO moderation.moderation_access_log (moderator_id, action, endpoint, event_ids, filter_names, subject_key, request_ip_key)
VALUES ($1, $2, $3, $4, $5, $6, $7);
