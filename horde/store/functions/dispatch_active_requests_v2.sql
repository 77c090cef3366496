-- dispatch.active_requests_v2: the requests of an account that wait or run, the oldest first. Called by admission, for the account's
-- holder. As v1, without those of its shared keys: who knows a request's id may read and cancel it, and others sent these.
CREATE FUNCTION dispatch.active_requests_v2(p_user integer) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT r.id FROM dispatch.waiting_prompts r
    WHERE r.user_id = p_user AND r.sharedkey_id IS NULL AND r.active AND NOT r.faulted
      AND (r.n > 0 OR EXISTS (SELECT FROM dispatch.processing_gens g
                              WHERE g.wp_id = r.id AND g.generation IS NULL AND NOT g.faulted AND NOT g.fake))
    ORDER BY r.created LIMIT 1000;
$$;
