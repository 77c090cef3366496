-- dispatch.sharedkey_load_v1: the outstanding work of a shared key. Called by admission, for the key's owner. Always one row.
CREATE FUNCTION dispatch.sharedkey_load_v1(p_sharedkey uuid)
RETURNS TABLE (requests bigint, queued bigint, processing bigint, finished bigint, oldest_queued_seconds bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT count(*), coalesce(sum(r.n), 0)::bigint, coalesce(sum(g.processing), 0)::bigint, coalesce(sum(g.finished), 0)::bigint,
           coalesce(extract(epoch FROM now() - min(r.created) FILTER (WHERE r.n > 0)), 0)::bigint
    FROM dispatch.waiting_prompts r CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE p.generation IS NULL) AS processing, count(*) FILTER (WHERE p.generation IS NOT NULL) AS finished
        FROM dispatch.processing_gens p WHERE p.wp_id = r.id AND NOT p.faulted AND NOT p.fake
    ) g
    WHERE r.sharedkey_id = p_sharedkey AND r.active AND NOT r.faulted AND (r.n > 0 OR g.processing > 0);
$$;
