-- dispatch.store_result_v2: the compare-and-set of a reply, and everything that becomes true with it. As v1, each row written once.
-- Called by dispatch's SubmitResult, alone in its transaction. A reply that loses to a cancel, a fault or a duplicate changes nothing.
-- p_reply: the columns gen_metadata, censored, seed, finish_reason, native_finish_reason, prompt_tokens, completion_tokens,
-- reasoning_tokens, charge_basis. p_text, p_message: the reply. p_speed: tokens per second, p_tokens: what the reply counts as.
-- p_ttl: the request lives at least this much longer. Amounts in hundredths of a kudo. outcome: stored, duplicate, aborted or gone.
CREATE FUNCTION dispatch.store_result_v2(
    p_generation uuid, p_reply jsonb, p_text text, p_message jsonb, p_reward bigint, p_charge bigint, p_burn bigint,
    p_speed double precision, p_tokens integer, p_now timestamptz, p_ttl interval
) RETURNS TABLE (outcome text, finished integer, done boolean) LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    g dispatch.processing_gens;
    v dispatch.processing_gens := jsonb_populate_record(NULL::dispatch.processing_gens, p_reply);
BEGIN
    -- the request first: the order in which a pop, a cancel and a fault take their locks
    PERFORM 1 FROM dispatch.waiting_prompts r
    WHERE r.id = (SELECT p.wp_id FROM dispatch.processing_gens p WHERE p.id = p_generation) FOR NO KEY UPDATE;
    UPDATE dispatch.processing_gens p
    SET generation = p_text, message = p_message, gen_metadata = v.gen_metadata, censored = v.censored, seed = v.seed, cancelled = false,
        finish_reason = v.finish_reason, native_finish_reason = v.native_finish_reason, prompt_tokens = v.prompt_tokens,
        completion_tokens = v.completion_tokens, reasoning_tokens = v.reasoning_tokens, charge_basis = v.charge_basis, ended_at = p_now,
        kudos = CASE WHEN p.fake THEN p.kudos ELSE p_charge + p_burn END
    WHERE p.id = p_generation AND p.generation IS NULL AND NOT p.faulted
    RETURNING p.* INTO g;
    IF NOT FOUND THEN
        SELECT CASE WHEN p.faulted THEN 'aborted' ELSE 'duplicate' END INTO outcome FROM dispatch.processing_gens p WHERE p.id = p_generation;
        outcome := coalesce(outcome, 'gone');
        RETURN NEXT;
        RETURN;
    END IF;
    outcome := 'stored';
    IF g.fake THEN
        -- a paused worker's: answered like any other, and nothing came of it
        finished := 0;
        done := false;
        RETURN NEXT;
        RETURN;
    END IF;
    PERFORM dispatch.pay_generation_v2(g, p_reward, p_charge, p_burn, 'OK', p_now);
    WITH sampled AS (
        INSERT INTO dispatch.worker_performances (worker_id, performance, created) VALUES (g.worker_id, p_speed, p_now)
    ), measured AS (
        INSERT INTO dispatch.model_performances (model, performance, created) VALUES (g.model, p_speed, p_now)
    )
    INSERT INTO dispatch.horde_fulfillments (things, created) VALUES (p_tokens, p_now);
    SELECT c.finished, c.done INTO finished, done FROM dispatch.conclude_v2(g.wp_id, p_now, p_charge + p_burn, p_now + p_ttl) c;
    RETURN NEXT;
END $$;
