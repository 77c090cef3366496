-- read_marks: the marks of these events, oldest first, with their moderators' aliases.
-- $1 event_ids bigint[]
SELECT m.event_id, m.mark, m.moderator_id, coalesce(a.alias, '') AS moderator, m.created
FROM moderation.moderation_event_marks m LEFT JOIN admission.account_standing a ON a.id = m.moderator_id
WHERE m.event_id = ANY ($1) ORDER BY m.created, m.moderator_id;
