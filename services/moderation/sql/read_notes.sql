-- read_notes: the notes of these events, oldest first, with their authors' aliases.
-- $1 event_ids bigint[]
SELECT n.event_id, n.id, n.author_id, coalesce(a.alias, '') AS author, n.note, n.created
FROM moderation.moderation_event_notes n LEFT JOIN admission.account_standing a ON a.id = n.author_id
WHERE n.event_id = ANY ($1) ORDER BY n.id;
