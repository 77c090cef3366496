-- list_filters: the filters, with who wrote each. There are few, so `contains` reads them all.
-- $1 filter_type smallint, null: any
-- $2 contains text, empty: any
SELECT f.id, f.regex, f.filter_type, f.description, f.replacement, a.alias
FROM moderation.filters f
LEFT JOIN admission.account_standing a ON a.id = f.user_id
WHERE ($1::smallint IS NULL OR f.filter_type = $1)
  AND ($2::text = '' OR position(lower($2) IN lower(f.regex)) > 0 OR position(lower($2) IN lower(f.description)) > 0)
ORDER BY f.id
