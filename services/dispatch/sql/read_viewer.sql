-- read_viewer: whose key this is, as far as it decides who may see, change and tell a worker. Index: users' key.
-- $1 key_hash text
SELECT id, alias, moderator FROM admission.account_standing WHERE api_key = $1
