-- bounds_of_time: ids between which all events between two moments lie; null without any. Ids grow with time only on the whole, so
-- the bounds are the outermost ids of the weeks that the time touches: two looks at ix_moderation_events_week for each week and reason.
-- reads only
-- $1 reasons varchar[], all that there are
-- $2 since timestamptz, inclusive; null: from the oldest
-- $3 until timestamptz, exclusive; null: to the newest
WITH known AS (
    SELECT greatest(min(created), $2::timestamptz) AS first, least(max(created), $3::timestamptz) AS last FROM (
        (SELECT created FROM moderation.moderation_events ORDER BY created DESC, id DESC LIMIT 1)
        UNION ALL (SELECT created FROM moderation.moderation_events ORDER BY created, id LIMIT 1)) AS ends
    HAVING count(*) > 0
),
weeks AS (
    SELECT week FROM known, generate_series(date_bin('7 days', known.first, timestamptz '2001-01-01 00:00:00+00'), known.last, interval '7 days') AS week
)
SELECT min(low.id) AS first, max(high.id) AS last FROM weeks CROSS JOIN unnest($1::varchar[]) AS reason
CROSS JOIN LATERAL (
    SELECT e.id FROM moderation.moderation_events e
    WHERE date_bin('7 days', e.created, timestamptz '2001-01-01 00:00:00+00') = weeks.week AND e.reason = reason.reason
    ORDER BY e.id LIMIT 1) AS low
CROSS JOIN LATERAL (
    SELECT e.id FROM moderation.moderation_events e
    WHERE date_bin('7 days', e.created, timestamptz '2001-01-01 00:00:00+00') = weeks.week AND e.reason = reason.reason
    ORDER BY e.id DESC LIMIT 1) AS high;
