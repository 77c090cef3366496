-- dispatch.enqueue_v2: make one accepted request claimable.
-- Called by admission inside its own transaction, so that "accepted" and "waiting" are one fact. Activates the inactive row when there is
-- one, else writes the row once, active. p_row as dispatch.accept_v2 takes it; p_priority: the queue priority in whole kudos.
CREATE FUNCTION dispatch.enqueue_v2(
    p_row jsonb, p_prompt text, p_submitted_prompt text, p_messages jsonb, p_priority bigint
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    r dispatch.waiting_prompts;
BEGIN
    UPDATE dispatch.waiting_prompts
    SET active = true, activated_at = v_now, extra_priority = p_priority, rank = p_priority - 5 * extract(epoch FROM v_now),
        consumed_kudos = coalesce((p_row ->> 'consumed_kudos')::bigint, consumed_kudos)
    WHERE id = (p_row ->> 'id')::uuid AND NOT active RETURNING * INTO r;
    IF NOT FOUND THEN
        r := dispatch.accept_v2(p_row, p_prompt, p_submitted_prompt, p_messages, p_priority);
    END IF;
    IF cardinality(r.models) <= 1 THEN
        -- a text request without models takes any: one entry under the empty name
        INSERT INTO dispatch.wp_models (wp_id, model, lane_id, user_id, rank, created, max_length, max_context_length, waiting)
        VALUES (r.id, coalesce(r.models[1], ''), dispatch.lane_v1(r, coalesce(r.models[1], '')), r.user_id, r.rank, r.created,
                r.max_length, r.max_context_length, true);
    ELSE
        INSERT INTO dispatch.wp_models (wp_id, model, lane_id, user_id, rank, created, max_length, max_context_length, waiting)
        SELECT r.id, model, dispatch.lane_v1(r, model), r.user_id, r.rank, r.created, r.max_length, r.max_context_length, true
        -- in order, so that two requests that make the same new lanes never wait for each other
        FROM unnest(r.models) AS model ORDER BY model;
    END IF;
END $$;
