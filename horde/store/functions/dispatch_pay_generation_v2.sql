-- dispatch.pay_generation_v2: pay for one generation that has just ended: the worker's totals, the ledger, the statistics row (base-domain 5.6).
-- Called by store_result_v2 and settle_cancelled_v2, which hold the request's lock and have written the generation's and the request's
-- charge. Rows are locked as everywhere: request, generation, worker, accounts. p_state: OK or CANCELLED. Amounts in hundredths of a kudo.
CREATE FUNCTION dispatch.pay_generation_v2(
    g dispatch.processing_gens, p_reward bigint, p_charge bigint, p_burn bigint, p_state text, p_now timestamptz
) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    r record;
    w record;
BEGIN
    SELECT p.user_id, p.sharedkey_id, p.max_length, p.max_context_length, length(p.prompt) AS prompt_length, p.client_agent
    INTO STRICT r FROM dispatch.waiting_prompts p WHERE p.id = g.wp_id;
    UPDATE dispatch.workers m SET kudos = m.kudos + p_reward, contributions = m.contributions + r.max_length, fulfilments = m.fulfilments + 1
    WHERE m.id = g.worker_id RETURNING m.user_id, m.bridge_agent INTO STRICT w;
    WITH generated AS (
        INSERT INTO dispatch.worker_stats AS s (worker_id, action, value) VALUES (g.worker_id, 'generated', p_reward)
        ON CONFLICT (worker_id, action) DO UPDATE SET value = s.value + excluded.value
    )
    INSERT INTO dispatch.text_gen_stats
        (started, finished, model, max_length, max_context_length, prompt_length, client_agent, bridge_agent, state)
    VALUES (g.start_time, p_now, g.model, r.max_length, r.max_context_length, r.prompt_length, r.client_agent, w.bridge_agent, p_state);
    PERFORM admission.settle_v2(
        g.id, 'generation', g.wp_id, r.user_id, r.sharedkey_id, w.user_id, p_reward, p_charge, p_burn, r.max_length);
END $$;
