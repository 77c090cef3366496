-- pick_events_in_time: the ids of one page of events between two moments, newest first. Ids grow with time only on the
-- whole, so each week is read for itself by ix_moderation_events_week: the page costs the same however old the weeks are.
-- reads only
-- $1 before_id bigint, exclusive; null: from the newest
-- $2 reasons varchar[]
-- $3 since timestamptz, inclusive; null: from the oldest
-- $4 until timestamptz, exclusive; null: to the newest
-- $5 rows integer
WITH known AS (
    SELECT greatest(min(created), $3) AS first, least(max(created), $4) AS last FROM (
        (SELECT created FROM moderation.moderation_events ORDER BY created DESC, id DESC LIMIT 1)
        UNION ALL (SELECT created FROM moderation.moderation_events ORDER BY created, id LIMIT 1)) AS ends
    HAVING count(*) > 0
),
weeks AS (
    SELECT week FROM known, generate_series(date_bin('7 days', known.first, timestamptz '2001-01-01 00:00:00+00'), known.last, interval '7 days') AS week
)
SELECT found.id FROM weeks CROSS JOIN unnest($2::varchar[]) AS reason CROSS JOIN LATERAL (
    SELECT e.id FROM moderation.moderation_events e
    WHERE date_bin('7 days', e.created, timestamptz '2001-01-01 00:00:00+00') = weeks.week AND e.reason = reason.reason
      AND ($1::bigint IS NULL OR e.id < $1)
      AND ($3::timestamptz IS NULL OR e.created >= $3)
      AND ($4::timestamptz IS NULL OR e.created < $4)
    ORDER BY e.id DESC LIMIT $5
) AS found
ORDER BY found.id DESC LIMIT $5;
