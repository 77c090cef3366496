-- read_shared_key: a key with its owner; no row without it.
-- $1 id uuid
SELECT k.id, k.user_id, a.alias AS username, k.name, k.kudos, k.expiry, k.utilized, k.max_image_pixels, k.max_image_steps, k.max_text_tokens
FROM admission.user_sharedkeys k JOIN admission.account_standing a ON a.id = k.user_id WHERE k.id = $1;
