-- find_account: whose personal key this is.
-- $1 key_hash text
SELECT a.id, a.alias, a.kudos, a.trusted, a.moderator, a.flagged, a.concurrency, a.deleted
FROM admission.account_standing a JOIN admission.users u ON u.id = a.id
WHERE u.api_key = $1 AND u.oauth_id NOT LIKE '<wiped>%';
