-- dispatch.record_ending_v1: the statistics row of one generation that ended: OK, CANCELLED or FAULTED (base-domain 5.6).
-- Called by the functions that end generations.
CREATE FUNCTION dispatch.record_ending_v1(p_generation uuid, p_state text, p_now timestamptz) RETURNS void
LANGUAGE sql SET search_path = pg_catalog AS $$
    INSERT INTO dispatch.text_gen_stats
        (started, finished, model, max_length, max_context_length, prompt_length, client_agent, bridge_agent, state)
    SELECT g.start_time, p_now, g.model, r.max_length, r.max_context_length, length(r.prompt), r.client_agent, w.bridge_agent, p_state
    FROM dispatch.processing_gens g
    JOIN dispatch.waiting_prompts r ON r.id = g.wp_id
    JOIN dispatch.workers w ON w.id = g.worker_id
    WHERE g.id = p_generation;
$$;
