-- update_shared_key: what its owner changes of a key; null leaves a column as it is.
-- $1 id uuid
-- $2 kudos bigint, hundredths
-- $3 sets_expiry boolean
-- $4 expiry timestamptz, null: never
-- $5 name varchar
-- $6 max_image_pixels integer
-- $7 max_image_steps integer
-- $8 max_text_tokens integer
UPDATE admission.user_sharedkeys SET
    kudos = coalesce($2, kudos),
    expiry = CASE WHEN $3 THEN $4 ELSE expiry END,
    name = coalesce($5, name),
    max_image_pixels = coalesce($6, max_image_pixels),
    max_image_steps = coalesce($7, max_image_steps),
    max_text_tokens = coalesce($8, max_text_tokens)
WHERE id = $1;
