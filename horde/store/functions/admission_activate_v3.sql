-- admission.activate_v3: let one checked request in: claim its operation key, hold its kudos, take its tax, queue it.
-- Called by admission, alone in its transaction; whatever it refuses has changed nothing.
-- p_row: the request's columns as dispatch.accept_v2 takes them, and `downgraded` when it waits behind all others. Amounts in hundredths of a kudo.
-- Returns the earlier claim when the operation key is taken, else one row of nulls with the priority it was queued at.
-- As v2, and the request itself never counts as one that waits. Every plan is made once for each connection: each statement here finds
-- its rows by key.
-- Raises HD429 (too many generations wait; detail `<waiting> of <limit>`) and HD402 (the hold is not covered; detail: available hundredths).
CREATE FUNCTION admission.activate_v3(
    p_row jsonb, p_prompt text, p_submitted_prompt text, p_messages jsonb, p_hold bigint, p_tax bigint
) RETURNS TABLE (claimed_request uuid, claimed_fingerprint text, claimed_kudos bigint, priority bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_request uuid := (p_row ->> 'id')::uuid;
    v_user integer := (p_row ->> 'user_id')::integer;
    v_sharedkey uuid := (p_row ->> 'sharedkey_id')::uuid;
    v_standing admission.account_standing;
    v_waiting bigint;
    v_available bigint;
    v_forgiven bigint;
BEGIN
    -- one submission of an account at a time: the counts and the hold below are exact
    PERFORM 1 FROM admission.users WHERE id = v_user FOR NO KEY UPDATE;
    SELECT * INTO STRICT v_standing FROM admission.account_standing WHERE id = v_user;
    IF p_row ? 'operation_key' THEN
        RETURN QUERY SELECT c.request_id, c.fingerprint::text, c.kudos, NULL::bigint FROM admission.operation_claims c
        WHERE c.user_id = v_user AND c.operation_key = (p_row ->> 'operation_key')::uuid;
        IF FOUND THEN
            RETURN;
        END IF;
        INSERT INTO admission.operation_claims (user_id, operation_key, fingerprint, request_id, kudos)
        VALUES (v_user, (p_row ->> 'operation_key')::uuid, p_row ->> 'operation_fingerprint', v_request, (p_row ->> 'kudos')::bigint);
    END IF;
    v_waiting := dispatch.count_waiting_v3(v_user, ARRAY(SELECT jsonb_array_elements_text(p_row -> 'models')), v_request);
    IF v_waiting + (p_row ->> 'jobs')::integer > v_standing.concurrency THEN
        RAISE EXCEPTION 'too many waiting' USING ERRCODE = 'HD429', DETAIL = format('%s of %s', v_waiting, v_standing.concurrency);
    END IF;
    IF p_hold > 0 THEN
        SELECT v_standing.kudos - v_standing.floor - coalesce(sum(h.remaining_amount), 0) INTO v_available
        FROM admission.kudos_reservations h WHERE h.user_id = v_user AND h.released_at IS NULL;
        IF p_hold > v_available THEN
            RAISE EXCEPTION 'hold not covered' USING ERRCODE = 'HD402', DETAIL = v_available::text;
        END IF;
        INSERT INTO admission.kudos_reservations (business_id, user_id, request_id, original_amount, remaining_amount)
        VALUES ('upfront:' || v_request, v_user, v_request, p_hold, p_hold);
    END IF;
    -- whole kudos; a flagged account waits behind, or by a thousandth of what it has; so does a downgraded one (base-domain 3.7)
    priority := CASE WHEN NOT v_standing.flagged AND (p_row ->> 'downgraded')::boolean THEN -50
                     WHEN NOT v_standing.flagged THEN v_standing.kudos / 100
                     WHEN v_standing.kudos > 1000 THEN round(v_standing.kudos / 100000.0)
                     ELSE -100 END;
    v_forgiven := greatest(v_standing.floor - (v_standing.kudos - p_tax), 0);
    PERFORM admission.post_v1(
        ARRAY['ACTIVATION_TAX', 'ACTIVATION_TAX', 'FLOOR_ADJUSTMENT', 'FLOOR_ADJUSTMENT'], ARRAY['user', 'tax', 'forgiven', 'user'],
        ARRAY[v_user, NULL, NULL, v_user], ARRAY[-p_tax, p_tax, -v_forgiven, v_forgiven], v_request, NULL);
    -- the tax leaves the hold alone: it was not part of what the hold was sized by
    PERFORM admission.spend_v1(NULL, v_user, v_sharedkey, p_tax, 0);
    PERFORM dispatch.enqueue_v2(p_row || jsonb_build_object('consumed_kudos', p_tax), p_prompt, p_submitted_prompt, p_messages, priority);
    RETURN NEXT;
END $$;
