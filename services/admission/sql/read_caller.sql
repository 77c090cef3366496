-- read_caller: whose key this is, and through which shared key; always one row. A UUID that is a shared key's id is that key (base-domain 1.5).
-- reads only
-- $1 key_hash text
-- $2 sharedkey uuid, null when the key is no UUID
WITH lent AS (SELECT id, user_id, name FROM admission.user_sharedkeys WHERE id = $2),
caller AS (
    SELECT user_id FROM lent
    UNION ALL
    SELECT u.id FROM admission.users u
    WHERE u.api_key = $1 AND u.oauth_id NOT LIKE '<wiped>%' AND NOT EXISTS (SELECT FROM lent)
)
SELECT a.id, a.alias, a.anonymous, a.moderator, a.trusted, a.service, a.education, a.flagged, a.deleted,
       lent.id AS sharedkey_id, lent.name AS sharedkey_name
FROM (VALUES (1)) AS one LEFT JOIN caller ON true LEFT JOIN lent ON true LEFT JOIN admission.account_standing a ON a.id = caller.user_id;
