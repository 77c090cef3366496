-- insert_filter: write a filter, or give the one that has this pattern and type already. Constraint: (regex, filter_type).
-- The update changes nothing: it makes the row that is there come back.
-- $1 regex text
-- $2 filter_type smallint
-- $3 description text
-- $4 replacement text
-- $5 user_id int
WITH written AS (
    INSERT INTO moderation.filters (regex, filter_type, description, replacement, user_id)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (regex, filter_type) DO UPDATE SET regex = excluded.regex
    RETURNING id, regex, filter_type, description, replacement, user_id)
SELECT w.id, w.regex, w.filter_type, w.description, w.replacement, a.alias
FROM written w
LEFT JOIN admission.account_standing a ON a.id = w.user_id
