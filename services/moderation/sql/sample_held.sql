-- sample_held: the events past a window that only a hold keeps, by its source.
-- $1 text_days int
-- $2 ipaddr_days int
-- $3 ceiling_days int
WITH late AS (
    SELECT e.user_id, EXISTS (SELECT FROM moderation.moderation_event_notes n WHERE n.event_id = e.id) AS noted, count(*) AS events
    FROM moderation.moderation_events e
    WHERE (NOT e.text_redacted AND e.created <= now() - make_interval(hours => 24 * $1::integer))
       OR (NOT e.ipaddr_redacted AND e.created <= now() - make_interval(hours => 24 * $2::integer))
       OR (NOT e.anonymized AND e.created <= now() - make_interval(hours => 24 * $3::integer))
    GROUP BY 1, 2
)
SELECT CASE WHEN l.noted THEN 'note' ELSE 'account_status' END AS source, sum(l.events)::bigint AS events
FROM late l LEFT JOIN admission.restricted_accounts r ON r.user_id = l.user_id
WHERE l.noted OR r.user_id IS NOT NULL
GROUP BY 1
