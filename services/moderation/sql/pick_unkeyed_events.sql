-- pick_unkeyed_events: as pick_events, for one address among the events that have no pseudonym.
-- reads only
-- $1 before_id bigint, exclusive
-- $2 from_id bigint, inclusive
-- $3 event_id bigint
-- $4 user_id integer
-- $5 proxied_account varchar
-- $6 worker_id uuid
-- $7 ipaddr varchar, a subject
-- $8 reasons varchar[], any of them
-- $9 since timestamptz, inclusive
-- $10 until timestamptz, exclusive
-- $11 unmarked boolean, only events that nobody has marked
-- $12 rows integer
SELECT e.id FROM moderation.moderation_events e
WHERE ($1::bigint IS NULL OR e.id < $1)
  AND ($2::bigint IS NULL OR e.id >= $2)
  AND ($3::bigint IS NULL OR e.id = $3)
  AND ($4::integer IS NULL OR e.user_id = $4)
  AND ($5::varchar IS NULL OR e.proxied_account = $5)
  AND ($6::uuid IS NULL OR e.worker_id = $6)
  AND e.ip_subject_key IS NULL AND e.ipaddr = $7::varchar
  AND ($8::varchar[] IS NULL OR e.reason = ANY ($8))
  AND (e.created >= $9::timestamptz) IS NOT FALSE
  AND (e.created < $10::timestamptz) IS NOT FALSE
  AND (NOT $11::boolean OR coalesce((SELECT false FROM moderation.moderation_event_marks m WHERE m.event_id = e.id LIMIT 1), true))
ORDER BY e.id DESC LIMIT $12;
