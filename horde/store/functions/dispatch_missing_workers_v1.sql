-- dispatch.missing_workers_v1: those of the named workers that do not exist.
-- Called by admission for requests that name workers (base-domain 3.4, step 16).
CREATE FUNCTION dispatch.missing_workers_v1(p_workers uuid[]) RETURNS uuid[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT coalesce(array_agg(named), '{}') FROM unnest(p_workers) AS named
    WHERE NOT EXISTS (SELECT FROM dispatch.workers w WHERE w.id = named);
$$;
