-- admission.pay_monthly_v1: pay an account the month that is due, from the mint. Called by admission's hourly loop and when the first grant is made.
-- Due: somebody who is to be given kudos and never was, or whose last month began more than one calendar month (UTC) ago. The date
-- advances by exactly one month, so a repeat, or another replica, finds it paid. A month in which the account is to be given nothing passes unpaid.
-- Returns what was paid in hundredths, 0 for a month that passed; null when nothing is due.
CREATE FUNCTION admission.pay_monthly_v1(p_user integer, p_now timestamptz) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    v_amount bigint;
    v_month timestamptz;
BEGIN
    SELECT (monthly_kudos_last_received AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC' INTO v_month
    FROM admission.users WHERE id = p_user AND oauth_id <> 'anon' FOR NO KEY UPDATE;
    IF NOT FOUND OR v_month >= p_now THEN
        RETURN NULL;
    END IF;
    v_amount := admission.monthly_amount_v1(p_user) * 100;
    IF v_month IS NULL AND v_amount = 0 THEN
        RETURN NULL;
    END IF;
    UPDATE admission.users SET monthly_kudos_last_received = coalesce(v_month, p_now) WHERE id = p_user;
    IF v_amount > 0 THEN
        PERFORM admission.award_v1(p_user, v_amount, 'ADMIN_ADJUSTMENT', 'recurring');
    END IF;
    RETURN v_amount;
END $$;
