-- dispatch.tell_waiting_v3: tell every dispatch process that jobs of these requests wait. See docs/adr on waiting pops.
-- Called by admission after the commit that made it true: a NOTIFY inside it would make such commits queue up behind each other.
-- Each message describes one request as dispatch.waiting_notice_v1 does. A repeat tells again. As v2; planned once for each connection,
-- perhaps while the queue is short: rows are found by their key, and only then looked at.
CREATE FUNCTION dispatch.tell_waiting_v3(p_requests uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
    PERFORM pg_notify('dispatch_waiting', dispatch.waiting_notice_v1(found.r))
    FROM (SELECT w AS r FROM dispatch.waiting_prompts w WHERE w.id = ANY (p_requests) OFFSET 0) found
    WHERE (found.r).active AND NOT (found.r).faulted AND NOT (found.r).cancelled AND (found.r).n > 0;
END $$;
