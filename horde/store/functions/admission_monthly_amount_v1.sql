-- admission.monthly_amount_v1: what an account is given each month, in whole kudos: its own grant, and 300,000 for a moderator (base-domain 2.9).
-- Called by admission.pay_monthly_v1 and by admission, to describe an account.
CREATE FUNCTION admission.monthly_amount_v1(p_user integer) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT u.monthly_kudos::bigint + CASE WHEN r.user_id IS NULL THEN 0 ELSE 300000 END
    FROM admission.users u LEFT JOIN admission.user_roles r ON r.user_id = u.id AND r.user_role = 0
    WHERE u.id = p_user;
$$;
