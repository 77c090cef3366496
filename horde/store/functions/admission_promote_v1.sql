-- admission.promote_v1: make accounts trusted: the role, and what they earned in escrow moves to their balance.
-- Called by admission's promotion loop and by `horde admin user set --trusted`. A repeat changes nothing.
CREATE FUNCTION admission.promote_v1(p_user integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    v_escrow bigint;
BEGIN
    SELECT evaluating_kudos INTO v_escrow FROM admission.users WHERE id = p_user AND oauth_id <> 'anon' FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    INSERT INTO admission.user_roles (user_id, user_role) VALUES (p_user, 1) ON CONFLICT DO NOTHING;
    PERFORM admission.post_v1(
        ARRAY['EVALUATION_PROMOTION', 'EVALUATION_PROMOTION'], ARRAY['escrow', 'user'], ARRAY[p_user, p_user],
        ARRAY[-v_escrow, v_escrow], NULL, NULL);
    PERFORM dispatch.unpause_workers_v1(p_user);
END $$;
