-- dispatch.account_workers_v1: what the workers of these accounts have done, added up. Called by admission. p_online: how long one counts as online.
CREATE FUNCTION dispatch.account_workers_v1(p_users integer[], p_online interval)
RETURNS TABLE (user_id integer, workers bigint, online bigint, paused bigint, kudos bigint, contributions bigint, fulfilments bigint, ids uuid[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT w.user_id, count(*), count(*) FILTER (WHERE w.last_check_in > now() - p_online), count(*) FILTER (WHERE w.paused),
           sum(w.kudos)::bigint, sum(w.contributions)::bigint, sum(w.fulfilments)::bigint, array_agg(w.id ORDER BY w.created, w.id)
    FROM dispatch.workers w WHERE w.user_id = ANY (p_users) GROUP BY w.user_id;
$$;
