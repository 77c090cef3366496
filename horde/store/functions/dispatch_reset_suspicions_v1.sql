-- dispatch.reset_suspicions_v1: the present suspicions of an account's workers are forgotten; their history stays. Called by admission.
CREATE FUNCTION dispatch.reset_suspicions_v1(p_user integer) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
    DELETE FROM dispatch.worker_suspicions s USING dispatch.workers w WHERE w.id = s.worker_id AND w.user_id = p_user;
$$;
