-- admission.create_account_v1: a new registered account with its key's hash, its roles and its first kudos.
-- Called by `horde admin user create`. p_kudos in hundredths, minted as ADMIN_ADJUSTMENT; the account begins with exactly that, also under
-- its floor: the first debit lifts it there (base-domain 2.12). Returns the new id.
CREATE FUNCTION admission.create_account_v1(
    p_username text, p_key_hash text, p_concurrency integer, p_kudos bigint, p_roles smallint[]
) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    v_user integer;
BEGIN
    INSERT INTO admission.users (username, oauth_id, api_key, concurrency)
    VALUES (p_username, 'h_' || gen_random_uuid(), p_key_hash, p_concurrency) RETURNING id INTO v_user;
    INSERT INTO admission.user_roles (user_id, user_role) SELECT DISTINCT v_user, unnest(p_roles);
    PERFORM admission.post_v1(
        ARRAY['ADMIN_ADJUSTMENT', 'ADMIN_ADJUSTMENT'], ARRAY['mint', 'user'], ARRAY[NULL, v_user], ARRAY[-p_kudos, p_kudos], NULL, NULL);
    RETURN v_user;
END $$;
