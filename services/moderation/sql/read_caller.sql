-- read_caller: whose key this is, as far as it decides what of moderation's they may do. Index: users' key.
-- $1 key_hash text
SELECT id, alias, moderator, deleted FROM admission.account_standing WHERE api_key = $1
