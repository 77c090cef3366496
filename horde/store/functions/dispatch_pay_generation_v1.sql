-- dispatch.pay_generation_v1: pay for one generation and book it: the worker's totals, the ledger, the request's charge.
-- Called by store_result_v1 and settle_cancelled_v1, which have just ended the generation and hold its request's lock.
-- Rows are locked as everywhere: request, generation, worker, accounts. Amounts in hundredths of a kudo.
-- p_ttl: the request lives at least this much longer, since it was used (base-domain 3.7).
CREATE FUNCTION dispatch.pay_generation_v1(
    p_generation uuid, p_reward bigint, p_charge bigint, p_burn bigint, p_now timestamptz, p_ttl interval
) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    g record;
    v_owner integer;
BEGIN
    UPDATE dispatch.processing_gens p SET kudos = p_charge + p_burn
    FROM dispatch.waiting_prompts r WHERE p.id = p_generation AND r.id = p.wp_id
    RETURNING p.worker_id, r.id AS request, r.user_id, r.sharedkey_id, r.max_length INTO STRICT g;
    UPDATE dispatch.workers w SET kudos = w.kudos + p_reward, contributions = w.contributions + g.max_length, fulfilments = w.fulfilments + 1
    WHERE w.id = g.worker_id RETURNING w.user_id INTO STRICT v_owner;
    INSERT INTO dispatch.worker_stats AS s (worker_id, action, value) VALUES (g.worker_id, 'generated', p_reward)
    ON CONFLICT (worker_id, action) DO UPDATE SET value = s.value + excluded.value;
    UPDATE dispatch.waiting_prompts r SET consumed_kudos = r.consumed_kudos + p_charge + p_burn, expiry = greatest(r.expiry, p_now + p_ttl)
    WHERE r.id = g.request;
    PERFORM admission.settle_v1(
        p_generation, 'generation', g.request, g.user_id, g.sharedkey_id, v_owner, p_reward, p_charge, p_burn, g.max_length);
END $$;
