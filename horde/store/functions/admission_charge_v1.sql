-- admission.charge_v1: what one charge takes besides the balance: it uses up the request's hold, and the shared key's kudos.
-- Called by settle_v2, with the payer's row locked. Amounts in hundredths of a kudo.
CREATE FUNCTION admission.charge_v1(p_request uuid, p_sharedkey uuid, p_amount bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    UPDATE admission.kudos_reservations
    SET remaining_amount = greatest(remaining_amount - p_amount, 0),
        released_at = CASE WHEN remaining_amount <= p_amount THEN now() END
    WHERE business_id = 'upfront:' || p_request AND released_at IS NULL;
    IF p_sharedkey IS NOT NULL THEN
        -- minus one kudo is unlimited; an empty key stays empty
        UPDATE admission.user_sharedkeys
        SET kudos = CASE WHEN kudos = -100 THEN kudos ELSE greatest(kudos - p_amount, 0) END, utilized = utilized + p_amount
        WHERE id = p_sharedkey AND kudos <> 0;
    END IF;
END $$;
