-- dispatch.enqueue_v1: make one accepted request claimable.
-- Called by admission inside its own transaction, so that "accepted" and "waiting" are one fact. Activates the inactive row when there is one.
-- p_row as dispatch.accept_inactive_v1 takes it; p_priority: the queue priority in whole kudos.
CREATE FUNCTION dispatch.enqueue_v1(p_row jsonb, p_prompt text, p_submitted_prompt text, p_messages jsonb, p_priority bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    v_id uuid := (p_row ->> 'id')::uuid;
    v_now timestamptz := clock_timestamp();
    r dispatch.waiting_prompts;
BEGIN
    IF NOT EXISTS (SELECT FROM dispatch.waiting_prompts WHERE id = v_id) THEN
        PERFORM dispatch.accept_inactive_v1(p_row, p_prompt, p_submitted_prompt, p_messages);
    END IF;
    -- upstream raises a waiting request's priority by 50 every 10 seconds; a rank that falls with the time of activation orders the same (decision 17)
    UPDATE dispatch.waiting_prompts
    SET active = true, activated_at = v_now, extra_priority = p_priority, rank = p_priority - 5 * extract(epoch FROM v_now),
        consumed_kudos = coalesce((p_row ->> 'consumed_kudos')::bigint, consumed_kudos)
    WHERE id = v_id AND NOT active RETURNING * INTO STRICT r;
    INSERT INTO dispatch.wp_models (wp_id, model, lane_id, user_id, rank, created, max_length, max_context_length, waiting)
    SELECT r.id, model, dispatch.lane_v1(r, model), r.user_id, r.rank, r.created, r.max_length, r.max_context_length, true
    -- a text request without models takes any: one entry under the empty name
    -- in order, so that two requests that make the same new lanes never wait for each other
    FROM unnest(CASE WHEN r.models = '{}' THEN ARRAY[''] ELSE r.models END) AS model ORDER BY model;
END $$;
