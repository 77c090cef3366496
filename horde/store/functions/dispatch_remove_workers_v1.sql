-- dispatch.remove_workers_v1: the workers of an account that is wiped go with it. One that a stored job references is paused for good.
-- Called by admission, in the transaction that wipes the account. A repeat changes nothing.
CREATE FUNCTION dispatch.remove_workers_v1(p_user integer) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
    UPDATE dispatch.workers SET paused = true, maintenance = true WHERE user_id = p_user;
    DELETE FROM dispatch.workers w WHERE w.user_id = p_user
        AND NOT EXISTS (SELECT FROM dispatch.processing_gens g WHERE g.worker_id = w.id);
$$;
