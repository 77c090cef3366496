-- admission.spend_v1: what one charge does besides its postings: the hold, the shared key, the payer's statistics.
-- Called by settle_v1 and activate_v1. Amounts in hundredths.
CREATE FUNCTION admission.spend_v1(
    p_request uuid, p_user integer, p_sharedkey uuid, p_amount bigint, p_tokens integer
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
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
    INSERT INTO admission.user_records AS r (user_id, record_type, record, value)
    SELECT p_user, 1, 'tokens', p_tokens * u.usage_multiplier FROM admission.users u WHERE u.id = p_user AND p_tokens > 0
    UNION ALL SELECT p_user, 4, 'text', 1
    ON CONFLICT (user_id, record_type, record) DO UPDATE SET value = r.value + excluded.value;
    INSERT INTO admission.user_stats AS s (user_id, action, value) VALUES (p_user, 'accumulated', -p_amount)
    ON CONFLICT (user_id, action) DO UPDATE SET value = s.value + excluded.value;
END $$;
