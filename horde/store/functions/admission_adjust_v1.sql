-- admission.adjust_v1: give kudos to an account or take them, by hand.
-- Called by `horde admin user set`. p_amount in hundredths, from or to the mint, as ADMIN_ADJUSTMENT.
-- What would sink below the floor is forgiven. Returns the new balance; null when there is no such account.
CREATE FUNCTION admission.adjust_v1(p_user integer, p_amount bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    v_forgiven bigint;
    v_kudos bigint;
BEGIN
    PERFORM 1 FROM admission.users WHERE id = p_user FOR NO KEY UPDATE;
    SELECT greatest(a.floor - (a.kudos + p_amount), 0) INTO v_forgiven FROM admission.account_standing a WHERE a.id = p_user;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM admission.post_v1(
        ARRAY['ADMIN_ADJUSTMENT', 'ADMIN_ADJUSTMENT', 'FLOOR_ADJUSTMENT', 'FLOOR_ADJUSTMENT'],
        ARRAY['mint', 'user', 'forgiven', 'user'], ARRAY[NULL, p_user, NULL, p_user],
        ARRAY[-p_amount, p_amount, -v_forgiven, v_forgiven], NULL, NULL);
    SELECT kudos INTO v_kudos FROM admission.users WHERE id = p_user;
    RETURN v_kudos;
END $$;
