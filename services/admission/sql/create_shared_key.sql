-- create_shared_key: a key that an owner lends; its id is the key.
-- $1 owner integer
-- $2 kudos bigint, hundredths
-- $3 expiry timestamptz
-- $4 name varchar
-- $5 max_image_pixels integer
-- $6 max_image_steps integer
-- $7 max_text_tokens integer
INSERT INTO admission.user_sharedkeys (user_id, kudos, expiry, name, max_image_pixels, max_image_steps, max_text_tokens)
VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id;
