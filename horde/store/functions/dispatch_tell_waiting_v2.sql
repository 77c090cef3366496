-- dispatch.tell_waiting_v2: tell every dispatch process that jobs of these requests wait. See docs/adr on waiting pops.
-- Called by admission after the commit that made it true: a NOTIFY inside it would make such commits queue up behind each other.
-- Each message describes one request as dispatch.waiting_notice_v1 does. A repeat tells again. As v1; planned once for each connection.
CREATE FUNCTION dispatch.tell_waiting_v2(p_requests uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
    PERFORM pg_notify('dispatch_waiting', dispatch.waiting_notice_v1(r))
    FROM dispatch.waiting_prompts r
    WHERE r.id = ANY (p_requests) AND r.active AND NOT r.faulted AND NOT r.cancelled AND r.n > 0;
END $$;
