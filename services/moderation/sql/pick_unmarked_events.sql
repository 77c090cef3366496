-- pick_unmarked_events: the ids of one page of events that nobody has marked, newest first. Each reason is read for itself from the list of
-- those events, which may still hold one that has just been marked. Times and marks are looked up as values, event by event: joined, all
-- events might be read for one page.
-- reads only
-- $1 before_id bigint, exclusive; null: from the newest
-- $2 from_id bigint, inclusive; null: to the oldest
-- $3 reasons varchar[]
-- $4 since timestamptz, inclusive
-- $5 until timestamptz, exclusive
-- $6 rows integer
SELECT found.id FROM unnest($3::varchar[]) AS reason CROSS JOIN LATERAL (
    SELECT u.event_id AS id FROM moderation.unmarked_events u
    WHERE (u.reason, u.event_id) >= (reason.reason, coalesce($2::bigint, 0))
      AND (u.reason, u.event_id) < (reason.reason, coalesce($1::bigint, 9223372036854775807))
      AND (SELECT (e.created >= $4::timestamptz) IS NOT FALSE AND (e.created < $5::timestamptz) IS NOT FALSE
           FROM moderation.moderation_events e WHERE e.id = u.event_id)
      AND coalesce((SELECT false FROM moderation.moderation_event_marks m WHERE m.event_id = u.event_id LIMIT 1), true)
    ORDER BY u.reason DESC, u.event_id DESC LIMIT $6
) AS found
ORDER BY found.id DESC LIMIT $6;
