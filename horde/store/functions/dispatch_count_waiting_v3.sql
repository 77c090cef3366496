-- dispatch.count_waiting_v3: how many generations of this account are not handed out yet.
-- Called by admission for the concurrency limit (base-domain 2.5). The anonymous account (0) is counted per requested model.
-- As v2, and p_except does not count: a request with images or an offloaded one is stored before it is let in.
CREATE FUNCTION dispatch.count_waiting_v3(p_user integer, p_models text[], p_except uuid) RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
    IF p_user = 0 AND p_models <> '{}' THEN
        RETURN (SELECT coalesce(sum(r.n), 0) FROM dispatch.wp_models m JOIN dispatch.waiting_prompts r ON r.id = m.wp_id
                WHERE m.waiting AND m.model = ANY (p_models) AND m.user_id = 0 AND r.active AND NOT r.faulted AND r.n > 0 AND r.id <> p_except);
    END IF;
    RETURN (SELECT coalesce(sum(r.n), 0) FROM dispatch.waiting_prompts r
            WHERE r.user_id = p_user AND NOT r.faulted AND r.n > 0 AND r.id <> p_except);
END $$;
