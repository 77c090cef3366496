-- dispatch.settle_cancelled_v2: end one streamed generation at its request's cancel, and pay for what its worker had posted. As v1.
-- Called by dispatch's CancelRequest in the transaction that won the cancel. A generation that ended before stays as it is: false.
-- p_characters: what was priced. p_ttl: the request lives at least this much longer, since it was used (base-domain 3.7).
-- Amounts in hundredths of a kudo. The worker is not charged with a dropped job.
CREATE FUNCTION dispatch.settle_cancelled_v2(
    p_generation uuid, p_characters integer, p_reward bigint, p_charge bigint, p_burn bigint, p_now timestamptz, p_ttl interval
) RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    g dispatch.processing_gens;
BEGIN
    UPDATE dispatch.processing_gens p
    SET faulted = true, cancelled = true, ended_at = p_now, settled_character_count = p_characters, kudos = p_charge + p_burn
    WHERE p.id = p_generation AND p.generation IS NULL AND NOT p.faulted AND NOT p.fake
    RETURNING p.* INTO g;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE dispatch.waiting_prompts r SET consumed_kudos = r.consumed_kudos + p_charge + p_burn, expiry = greatest(r.expiry, p_now + p_ttl)
    WHERE r.id = g.wp_id;
    PERFORM dispatch.pay_generation_v2(g, p_reward, p_charge, p_burn, 'CANCELLED', p_now);
    RETURN true;
END $$;
