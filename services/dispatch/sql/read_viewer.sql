-- read_viewer: whose key this is, as far as it decides who may see and change a worker. Index: users' key.
-- $1 key_hash text
SELECT id, moderator FROM admission.account_standing WHERE api_key = $1
