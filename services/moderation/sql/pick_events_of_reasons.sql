-- pick_events_of_reasons: the ids of one page of events of these reasons, newest first. Each reason is read for itself, so
-- that a rare one does not walk the events of the frequent ones. Rows are compared whole: the order by reason and id is that
-- of ix_moderation_events_reason_id alone, so no plan can prefer to walk all events.
-- reads only
-- $1 before_id bigint, exclusive; null: from the newest
-- $2 reasons varchar[]
-- $3 rows integer
SELECT found.id FROM unnest($2::varchar[]) AS reason CROSS JOIN LATERAL (
    SELECT e.id FROM moderation.moderation_events e
    WHERE (e.reason, e.id) > (reason.reason, 0::bigint)
      AND (e.reason, e.id) < (reason.reason, coalesce($1::bigint, 9223372036854775807))
    ORDER BY e.reason DESC, e.id DESC LIMIT $3
) AS found
ORDER BY found.id DESC LIMIT $3;
