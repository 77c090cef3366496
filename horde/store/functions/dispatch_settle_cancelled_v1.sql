-- dispatch.settle_cancelled_v1: end one streamed generation at its request's cancel, and pay for what its worker had posted.
-- Called by dispatch's CancelRequest in the transaction that won the cancel. A generation that ended before stays as it is: false.
-- p_characters: what was priced. Amounts in hundredths of a kudo. The worker is not charged with a dropped job.
CREATE FUNCTION dispatch.settle_cancelled_v1(
    p_generation uuid, p_characters integer, p_reward bigint, p_charge bigint, p_burn bigint, p_now timestamptz, p_ttl interval
) RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    UPDATE dispatch.processing_gens g
    SET faulted = true, cancelled = true, ended_at = p_now, settled_character_count = p_characters
    WHERE g.id = p_generation AND g.generation IS NULL AND NOT g.faulted AND NOT g.fake;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM dispatch.pay_generation_v1(p_generation, p_reward, p_charge, p_burn, p_now, p_ttl);
    PERFORM dispatch.record_ending_v1(p_generation, 'CANCELLED', p_now);
    RETURN true;
END $$;
