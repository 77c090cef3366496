-- dispatch.unpause_workers_v1: an account became trusted, so its workers are no longer paused (base-domain 2.2).
-- Called by admission.promote_v1. A repeat changes nothing.
CREATE FUNCTION dispatch.unpause_workers_v1(p_user integer) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
    UPDATE dispatch.workers SET paused = false WHERE user_id = p_user AND paused;
$$;
