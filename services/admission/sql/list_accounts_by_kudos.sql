-- list_accounts_by_kudos: the ids of a page, those with the most kudos first; wiped accounts are nobody.
-- $1 skipped bigint
-- $2 rows integer
SELECT id FROM admission.users WHERE oauth_id NOT LIKE '<wiped>%' ORDER BY kudos DESC, id OFFSET $1 LIMIT $2;
