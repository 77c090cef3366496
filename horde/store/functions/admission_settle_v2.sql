-- admission.settle_v2: pay for one thing that happened, once. As v1, in fewer statements.
-- Called by dispatch inside the transaction that makes it true: a stored reply, a settled cancel, a worker's uptime.
-- p_subject, p_kind: what is settled; a repeat returns false and changes nothing.
-- p_requester pays p_charge + p_burn and never sinks below its floor: the rest is forgiven. Null: nobody pays, the kudos are minted.
-- p_owner earns p_reward; half of an untrusted owner's goes to escrow, all of it for uptime.
-- Amounts in hundredths of a kudo; p_tokens is the request's max_length, for the statistics.
CREATE FUNCTION admission.settle_v2(
    p_subject uuid, p_kind text, p_request uuid, p_requester integer, p_sharedkey uuid, p_owner integer,
    p_reward bigint, p_charge bigint, p_burn bigint, p_tokens integer
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_debit bigint := p_charge + p_burn;
    v_escrow bigint;
    v_above_floor bigint;
    v_forgiven bigint;
    v_entry text := CASE p_kind WHEN 'uptime' THEN 'UPTIME_REWARD' ELSE 'GENERATION' END;
    v_generation uuid := CASE WHEN p_kind <> 'uptime' THEN p_subject END;
BEGIN
    INSERT INTO admission.settlements (subject_id, kind) VALUES (p_subject, p_kind) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- both rows in id order, so that two settlements never wait for each other
    PERFORM 1 FROM admission.users WHERE id IN (p_requester, p_owner) ORDER BY id FOR NO KEY UPDATE;
    SELECT CASE WHEN a.trusted OR a.anonymous THEN 0 WHEN p_kind = 'uptime' THEN p_reward ELSE (p_reward + 1) / 2 END,
           (SELECT payer.kudos - payer.floor FROM admission.account_standing payer WHERE payer.id = p_requester)
    INTO STRICT v_escrow, v_above_floor FROM admission.account_standing a WHERE a.id = p_owner;
    IF p_requester IS NULL THEN
        PERFORM admission.post_v2(
            ARRAY[v_entry, v_entry, v_entry], ARRAY['mint', 'user', 'escrow'], ARRAY[NULL, p_owner, p_owner],
            ARRAY[-p_reward, p_reward - v_escrow, v_escrow], p_request, v_generation, NULL);
    ELSE
        v_forgiven := greatest(v_debit - v_above_floor - CASE WHEN p_owner = p_requester THEN p_reward - v_escrow ELSE 0 END, 0);
        PERFORM admission.post_v2(
            ARRAY[v_entry, v_entry, v_entry, v_entry, v_entry, 'FLOOR_ADJUSTMENT', 'FLOOR_ADJUSTMENT'],
            ARRAY['user', 'burn', 'mint', 'user', 'escrow', 'forgiven', 'user'],
            ARRAY[p_requester, NULL, NULL, p_owner, p_owner, NULL, p_requester],
            ARRAY[-v_debit, p_burn, p_charge - p_reward, p_reward - v_escrow, v_escrow, -v_forgiven, v_forgiven],
            p_request, v_generation, p_requester);
        PERFORM admission.charge_v1(p_request, p_sharedkey, v_debit);
        INSERT INTO admission.user_records AS r (user_id, record_type, record, value)
        SELECT p_requester, 1, 'tokens', p_tokens * u.usage_multiplier FROM admission.users u WHERE u.id = p_requester
        UNION ALL VALUES (p_requester, 4, 'text', 1), (p_owner, 0, 'tokens', p_tokens), (p_owner, 3, 'text', 1)
        ON CONFLICT (user_id, record_type, record) DO UPDATE SET value = r.value + excluded.value;
    END IF;
    INSERT INTO admission.user_stats AS s (user_id, action, value)
    SELECT did.user_id, 'accumulated', sum(did.amount) FROM (VALUES (p_owner, p_reward), (p_requester, -v_debit)) did (user_id, amount)
    WHERE did.user_id IS NOT NULL GROUP BY did.user_id
    ON CONFLICT (user_id, action) DO UPDATE SET value = s.value + excluded.value;
    RETURN true;
END $$;
