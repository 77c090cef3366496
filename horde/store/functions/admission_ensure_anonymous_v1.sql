-- admission.ensure_anonymous_v1: the account of the key 0000000000 exists, with that key's hash under the present secret.
-- Called by admission at its start. A repeat changes nothing.
CREATE FUNCTION admission.ensure_anonymous_v1(p_key_hash text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
    -- 500 generations at once: base-domain 2.5
    INSERT INTO admission.users AS u (id, username, oauth_id, api_key, public_workers, concurrency)
    VALUES (0, 'Anonymous', 'anon', p_key_hash, true, 500)
    ON CONFLICT (id) DO UPDATE SET api_key = excluded.api_key WHERE u.api_key <> excluded.api_key;
$$;
