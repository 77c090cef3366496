-- admission.post_v2: write one balanced set of postings and move the balances it touches.
-- Called by settle_v2, with the accounts' rows already locked in id order. As v1, and p_active was just served: its account counts as
-- active from now on, in the same write. The anonymous account does not. Null: nobody.
-- Arrays run in parallel: entry type, account, user (null for the system's accounts), amount in hundredths. Zero amounts are left out.
-- Raises HD100 when the amounts do not sum to zero.
CREATE FUNCTION admission.post_v2(
    p_types text[], p_accounts text[], p_users integer[], p_amounts bigint[], p_request uuid, p_generation uuid, p_active integer
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_set uuid := gen_random_uuid();
BEGIN
    IF (SELECT sum(amount) FROM unnest(p_amounts) AS amount) <> 0 THEN
        RAISE EXCEPTION 'postings do not balance: %', p_amounts USING ERRCODE = 'HD100';
    END IF;
    INSERT INTO admission.kudos_ledger (set_id, entry_type, account, user_id, amount, request_id, generation_id)
    SELECT v_set, entry_type, account, user_id, amount, p_request, p_generation
    FROM unnest(p_types, p_accounts, p_users, p_amounts) AS posting (entry_type, account, user_id, amount)
    WHERE amount <> 0;
    UPDATE admission.users u
    SET kudos = u.kudos + moved.spendable, evaluating_kudos = u.evaluating_kudos + moved.escrow,
        last_active = CASE WHEN u.id = p_active AND u.oauth_id <> 'anon' THEN now() ELSE u.last_active END
    FROM (
        SELECT user_id,
               coalesce(sum(amount) FILTER (WHERE account = 'user'), 0) AS spendable,
               coalesce(sum(amount) FILTER (WHERE account = 'escrow'), 0) AS escrow
        FROM unnest(p_accounts, p_users, p_amounts) AS posting (account, user_id, amount)
        WHERE amount <> 0 OR user_id = p_active
        GROUP BY user_id
    ) moved
    WHERE u.id = moved.user_id;
END $$;
