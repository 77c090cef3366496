-- read_filter: one filter, with who wrote it.
-- $1 id int
SELECT f.id, f.regex, f.filter_type, f.description, f.replacement, a.alias
FROM moderation.filters f
LEFT JOIN admission.account_standing a ON a.id = f.user_id
WHERE f.id = $1
