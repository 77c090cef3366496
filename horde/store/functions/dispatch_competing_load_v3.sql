-- dispatch.competing_load_v3: the tokens and generations that wait and that at least one of these workers could take.
-- Called by admission to size the free output allowance (chat reference, Free output allowance) and by dispatch for a status. A worker
-- could take a request by its models, its chat opt-in and its length limits alone. Up to 20,000 entries of the queue, as v2: more is
-- hours of work for any fleet, and a request lives for minutes. By lane, from the index alone (ix_wp_models_lane).
-- Planned once for each connection, perhaps while the queue is short: rows are found by their key, and only then looked at.
CREATE FUNCTION dispatch.competing_load_v3(p_workers uuid[]) RETURNS TABLE (tokens bigint, jobs bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
    RETURN QUERY WITH offers AS MATERIALIZED (
        -- equal workers count once, so that the queue is read once per model and limit, not once per worker
        SELECT DISTINCT true AS is_chat, w.chat_model_id AS model, w.chat_max_length AS longest, w.chat_max_context_length AS widest
        FROM dispatch.workers w WHERE w.id = ANY (p_workers) AND w.accepts_chat_jobs
        UNION
        -- '' is the entry of a text request that takes any model
        SELECT false, model, w.max_length, w.max_context_length
        FROM dispatch.workers w, unnest(array_append(w.models, '')) AS model WHERE w.id = ANY (p_workers) AND w.accepts_prompt_jobs
    ), competing AS MATERIALIZED (
        SELECT m.wp_id
        FROM offers o
        JOIN dispatch.lanes l ON l.is_chat = o.is_chat AND l.model = o.model
            -- a bucket begins one above half its upper bound
            AND l.length_bucket / 2 < o.longest AND l.context_bucket / 2 < o.widest
        CROSS JOIN LATERAL (
            SELECT e.wp_id FROM dispatch.wp_models e
            WHERE e.lane_id = l.id AND e.waiting AND e.max_length <= o.longest AND e.max_context_length <= o.widest
            ORDER BY e.rank DESC, e.created, e.wp_id LIMIT 20000) m
        LIMIT 20000
    )
    SELECT coalesce(sum(r.n::bigint * r.max_length), 0)::bigint, coalesce(sum(r.n), 0)::bigint
    FROM (SELECT DISTINCT m.wp_id FROM competing m) c
    CROSS JOIN LATERAL (SELECT w.* FROM dispatch.waiting_prompts w WHERE w.id = c.wp_id OFFSET 0) r
    WHERE r.active AND NOT r.faulted AND r.n > 0;
END $$;
