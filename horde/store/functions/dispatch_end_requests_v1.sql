-- dispatch.end_requests_v1: the requests of an account, or of one shared key, wait no longer; dispatch's next clean-up removes them.
-- Called by admission when the key or the account goes. Jobs under way may still be submitted until then. A repeat changes nothing.
CREATE FUNCTION dispatch.end_requests_v1(p_user integer, p_sharedkey uuid) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
    WITH ended AS (
        UPDATE dispatch.waiting_prompts SET n = 0, cancelled = true, expiry = least(expiry, now())
        WHERE (user_id = p_user OR p_user IS NULL) AND (sharedkey_id = p_sharedkey OR p_sharedkey IS NULL)
          AND num_nonnulls(p_user, p_sharedkey) > 0
        RETURNING id
    ),
    closed AS (
        UPDATE dispatch.wp_models m SET waiting = false FROM ended WHERE m.wp_id = ended.id AND m.waiting
    )
    SELECT count(*) FROM ended;
$$;
