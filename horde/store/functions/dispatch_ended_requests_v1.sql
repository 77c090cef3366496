-- dispatch.ended_requests_v1: those of the given requests that are gone or faulted: nothing may be held for them any more.
-- Called by admission, which proves its ledger; sees what the calling statement sees.
CREATE FUNCTION dispatch.ended_requests_v1(p_requests uuid[]) RETURNS uuid[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT coalesce(array_agg(given), '{}') FROM unnest(p_requests) AS given
    WHERE NOT EXISTS (SELECT FROM dispatch.waiting_prompts r WHERE r.id = given AND NOT r.faulted);
$$;
