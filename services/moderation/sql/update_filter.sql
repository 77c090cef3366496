-- update_filter: change a filter; a null leaves its column as it is.
-- $1 id int
-- $2 regex text
-- $3 filter_type smallint
-- $4 description text
-- $5 replacement text
WITH written AS (
    UPDATE moderation.filters
    SET regex = coalesce($2::text, regex), filter_type = coalesce($3::smallint, filter_type),
        description = coalesce($4::text, description), replacement = coalesce($5::text, replacement)
    WHERE id = $1
    RETURNING id, regex, filter_type, description, replacement, user_id)
SELECT w.id, w.regex, w.filter_type, w.description, w.replacement, a.alias
FROM written w
LEFT JOIN admission.account_standing a ON a.id = w.user_id
