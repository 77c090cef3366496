-- admission.transfer_v1: move kudos from one account to another, and into the budget of a shared key when that was addressed.
-- Called by admission, alone in its transaction, after the rules of base-domain 2.8; what can change meanwhile is checked here again.
-- p_target: what the target was called; p_retry_key: null without one. Amounts in hundredths.
-- Returns true when kudos moved, false for the repeat of a transfer that carries the same retry key.
-- Raises HD409 (the retry key was another transfer's), HD425 (the target sent to the source within a minute), HD402 (not covered).
CREATE FUNCTION admission.transfer_v1(
    p_from integer, p_to integer, p_sharedkey uuid, p_amount bigint, p_target text, p_retry_key text
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    v_before admission.kudos_transfers;
    v_available bigint;
    v_donated boolean;
BEGIN
    -- in id order, so that two transfers never wait for each other
    PERFORM 1 FROM admission.users WHERE id IN (p_from, p_to) ORDER BY id FOR NO KEY UPDATE;
    SELECT * INTO v_before FROM admission.kudos_transfers WHERE source_id = p_from AND retry_key = p_retry_key;
    IF FOUND THEN
        IF (v_before.target, v_before.kudos) IS DISTINCT FROM (p_target, p_amount) THEN
            RAISE EXCEPTION 'another transfer' USING ERRCODE = 'HD409';
        END IF;
        RETURN false;
    END IF;
    IF EXISTS (SELECT FROM admission.kudos_transfers
               WHERE source_id = p_to AND dest_id = p_from AND created > clock_timestamp() - interval '60 seconds') THEN
        RAISE EXCEPTION 'too fast' USING ERRCODE = 'HD425';
    END IF;
    SELECT a.kudos - a.floor - coalesce((SELECT sum(h.remaining_amount) FROM admission.kudos_reservations h
                                         WHERE h.user_id = p_from AND h.released_at IS NULL), 0)
    INTO STRICT v_available FROM admission.account_standing a WHERE a.id = p_from;
    IF p_amount > v_available THEN
        RAISE EXCEPTION 'not covered' USING ERRCODE = 'HD402', DETAIL = v_available::text;
    END IF;
    PERFORM admission.post_v1(ARRAY['TRANSFER', 'TRANSFER'], ARRAY['user', 'user'], ARRAY[p_from, p_to], ARRAY[-p_amount, p_amount], NULL, NULL);
    SELECT a.education INTO STRICT v_donated FROM admission.account_standing a WHERE a.id = p_to;
    INSERT INTO admission.user_stats AS s (user_id, action, value)
    VALUES (p_from, CASE WHEN v_donated THEN 'donated' ELSE 'gifted' END, -p_amount), (p_to, 'received', p_amount)
    ON CONFLICT (user_id, action) DO UPDATE SET value = s.value + excluded.value;
    UPDATE admission.user_sharedkeys SET kudos = kudos + p_amount WHERE id = p_sharedkey AND kudos <> -100;
    INSERT INTO admission.kudos_transfers (source_id, dest_id, kudos, created, target, retry_key)
    VALUES (p_from, p_to, p_amount, clock_timestamp(), p_target, p_retry_key);
    RETURN true;
END $$;
