-- dispatch.competing_load_v1: the tokens and generations that wait and that at least one of these workers could take.
-- Called by admission to size the free output allowance (chat reference, Free output allowance). A worker could take a request by its
-- models, its chat opt-in and its length limits alone. Index: ix_wp_models_model.
CREATE FUNCTION dispatch.competing_load_v1(p_workers uuid[]) RETURNS TABLE (tokens bigint, jobs bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    WITH offers AS (
        -- equal workers count once, so that the queue is read once per model and limit, not once per worker
        SELECT DISTINCT true AS is_chat, w.chat_model_id AS model, w.chat_max_length AS longest, w.chat_max_context_length AS widest
        FROM dispatch.workers w WHERE w.id = ANY (p_workers) AND w.accepts_chat_jobs
        UNION
        -- '' is the entry of a text request that takes any model
        SELECT false, model, w.max_length, w.max_context_length
        FROM dispatch.workers w, unnest(array_append(w.models, '')) AS model WHERE w.id = ANY (p_workers) AND w.accepts_prompt_jobs
    ),
    competing AS (
        SELECT DISTINCT m.wp_id
        FROM offers o
        JOIN dispatch.wp_models m ON m.waiting AND m.model = o.model AND m.max_length <= o.longest AND m.max_context_length <= o.widest
        JOIN dispatch.lanes l ON l.id = m.lane_id AND l.is_chat = o.is_chat
    )
    SELECT coalesce(sum(r.n::bigint * r.max_length), 0)::bigint, coalesce(sum(r.n), 0)::bigint
    FROM competing c JOIN dispatch.waiting_prompts r ON r.id = c.wp_id
    WHERE r.active AND NOT r.faulted AND r.n > 0;
$$;
