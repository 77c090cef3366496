-- pick_events: the ids of one page of events, newest first; every filter may be null. What names a subject reads its own index.
-- reads only
-- $1 before_id bigint, exclusive
-- $2 event_id bigint
-- $3 user_id integer
-- $4 proxied_account varchar
-- $5 worker_id uuid
-- $6 ip_subject_key varchar
-- $7 reasons varchar[], any of them
-- $8 since timestamptz, inclusive
-- $9 until timestamptz, exclusive
-- $10 unmarked boolean, only events that nobody has marked
-- $11 rows integer
SELECT e.id FROM moderation.moderation_events e
WHERE ($1::bigint IS NULL OR e.id < $1)
  AND ($2::bigint IS NULL OR e.id = $2)
  AND ($3::integer IS NULL OR e.user_id = $3)
  AND ($4::varchar IS NULL OR e.proxied_account = $4)
  AND ($5::uuid IS NULL OR e.worker_id = $5)
  AND ($6::varchar IS NULL OR e.ip_subject_key = $6)
  AND ($7::varchar[] IS NULL OR e.reason = ANY ($7))
  AND ($8::timestamptz IS NULL OR e.created >= $8)
  AND ($9::timestamptz IS NULL OR e.created < $9)
  AND (NOT $10::boolean OR NOT EXISTS (SELECT FROM moderation.moderation_event_marks m WHERE m.event_id = e.id))
ORDER BY e.id DESC LIMIT $11;
