-- admission.award_v1: kudos that nobody paid, given for something good, or taken back. Called by admission for account 1 alone.
-- p_entry: AWARD or ADMIN_ADJUSTMENT; p_action: how the account's statistics call it. Amounts in hundredths, from or to the mint.
-- What would sink below the floor is forgiven. Returns the new balance.
CREATE FUNCTION admission.award_v1(p_user integer, p_amount bigint, p_entry text, p_action text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    v_forgiven bigint;
    v_kudos bigint;
BEGIN
    PERFORM 1 FROM admission.users WHERE id = p_user FOR NO KEY UPDATE;
    SELECT greatest(least(a.floor - (a.kudos + p_amount), -p_amount), 0) INTO STRICT v_forgiven
    FROM admission.account_standing a WHERE a.id = p_user;
    PERFORM admission.post_v1(
        ARRAY[p_entry, p_entry, 'FLOOR_ADJUSTMENT', 'FLOOR_ADJUSTMENT'], ARRAY['mint', 'user', 'forgiven', 'user'],
        ARRAY[NULL, p_user, NULL, p_user], ARRAY[-p_amount, p_amount, -v_forgiven, v_forgiven], NULL, NULL);
    INSERT INTO admission.user_stats AS s (user_id, action, value) VALUES (p_user, p_action, p_amount)
    ON CONFLICT (user_id, action) DO UPDATE SET value = s.value + excluded.value;
    SELECT kudos INTO STRICT v_kudos FROM admission.users WHERE id = p_user;
    RETURN v_kudos;
END $$;
