-- admission.suspect_v1: one more reason to suspect an account (base-domain 2.7).
-- Called by dispatch in the transaction in which it suspects one of the account's workers, and by admission for a prompt that a filter refused. The anonymous account is never suspected.
-- p_accumulates: false keeps a reason that the account has already from counting again.
CREATE FUNCTION admission.suspect_v1(p_user integer, p_suspicion integer, p_accumulates boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    -- two reports of one reason at once count once
    PERFORM 1 FROM admission.users u WHERE u.id = p_user AND u.oauth_id <> 'anon' FOR NO KEY UPDATE;
    IF FOUND AND (p_accumulates OR NOT EXISTS (
        SELECT FROM admission.user_suspicions s WHERE s.user_id = p_user AND s.suspicion_id = p_suspicion)) THEN
        INSERT INTO admission.user_suspicions (user_id, suspicion_id) VALUES (p_user, p_suspicion);
    END IF;
END $$;
