-- list_accounts_by_age: the ids of a page, the oldest first; wiped accounts are nobody.
-- $1 skipped bigint
-- $2 rows integer
SELECT id FROM admission.users WHERE oauth_id NOT LIKE '<wiped>%' ORDER BY created, id OFFSET $1 LIMIT $2;
