-- moderation_account_restricted_v1: whether an account's own standing holds what is remembered of it: flagged, or suspicious.
-- The anonymous account is never either. Of an account that is gone, or was taken out of the row (NULL), nothing is held.
-- COST: dearer than any other condition, so that it is asked last, and only of rows that all others leave.
CREATE FUNCTION moderation.account_restricted_v1(p_user_id integer) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE COST 10000 AS $$
    SELECT EXISTS (SELECT FROM admission.restricted_accounts r WHERE r.user_id = p_user_id)
$$;
REVOKE EXECUTE ON FUNCTION moderation.account_restricted_v1(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION moderation.account_restricted_v1(integer) TO horde_moderation;
