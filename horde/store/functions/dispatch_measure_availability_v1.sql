-- dispatch.measure_availability_v1: which online workers could take a request, and why the others could not.
-- Called by admission before activation and by dispatch for the status. p_row: the request's columns, as dispatch.accept_inactive_v1 takes them.
-- p_online: how long after its last check-in a worker counts as online. p_unmeasured: tokens per second of a worker without a measured speed.
-- p_capacity_seconds: how long a chat job may generate inside its lease.
-- gap is true when every serving worker was refused for its declaration alone; missing and exceeded are then what they lack, sorted.
CREATE FUNCTION dispatch.measure_availability_v1(p_row jsonb, p_online interval, p_unmeasured double precision, p_capacity_seconds double precision)
RETURNS TABLE (eligible_workers integer, eligible_threads integer, tokens_per_second double precision, worker_ids uuid[],
               gap boolean, missing text[], exceeded text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    -- both materialized: folded into the rest, each would be worked out again for every column and worker
    WITH r AS MATERIALIZED (SELECT * FROM jsonb_populate_record(NULL::dispatch.waiting_prompts, p_row)),
    serving AS MATERIALIZED (
        SELECT w.id, greatest(w.threads, 1) AS threads, coalesce(w.speed, p_unmeasured) AS pace,
               CASE WHEN r.is_chat THEN
                   ARRAY(SELECT unnest(r.chat_required_features) EXCEPT SELECT unnest(w.chat_features))
                   || CASE WHEN r.has_images AND 'vision' = ANY (w.chat_features) AND NOT w.image_transports && ARRAY['url', 'base64']
                           THEN ARRAY['image_transports'] ELSE '{}' END
               ELSE '{}' END AS missing,
               array_remove(ARRAY[
                   CASE WHEN r.max_context_length > CASE WHEN r.is_chat THEN w.chat_max_context_length ELSE w.max_context_length END
                        THEN 'max_context_length' END,
                   CASE WHEN r.max_length > CASE WHEN r.is_chat THEN w.chat_max_length ELSE w.max_length END THEN 'max_length' END,
                   CASE WHEN r.is_chat AND r.chat_tools_temperature > w.chat_tools_max_temperature THEN 'tools_max_temperature' END
               ], NULL) AS exceeded,
               (coalesce(r.trusted_workers, false) AND NOT owner.trusted)
               OR (coalesce(r.validated_backends, false) AND NOT w.validated_backend)
               OR coalesce(w.speed, 1) < coalesce(r.min_speed, 0)
               OR (w.paused AND w.user_id <> r.user_id)
               OR (NOT r.is_chat AND coalesce(r.softprompt, '') <> '' AND r.softprompt <> ALL (w.softprompts))
               OR (r.is_chat AND coalesce(w.speed, p_unmeasured) * p_capacity_seconds < r.max_length) AS otherwise_refused
        FROM r
        JOIN dispatch.workers w ON CASE WHEN r.is_chat THEN w.accepts_chat_jobs AND w.chat_model_id = ANY (r.models)
                                        ELSE w.accepts_prompt_jobs AND (r.models = '{}' OR w.models && r.models) END
        JOIN admission.account_standing owner ON owner.id = w.user_id
        -- a worker in maintenance serves its owner's requests alone (decision R16)
        WHERE w.last_check_in > now() - p_online AND (NOT w.maintenance OR w.user_id = r.user_id)
          AND (coalesce(r.workers, '{}') = '{}' OR (w.id = ANY (r.workers)) <> coalesce(r.worker_blacklist, false))
    ),
    judged AS (SELECT *, missing = '{}' AND exceeded = '{}' AND NOT otherwise_refused AS eligible FROM serving)
    SELECT count(*) FILTER (WHERE eligible)::integer,
           coalesce(sum(threads) FILTER (WHERE eligible), 0)::integer,
           coalesce(sum(pace * threads) FILTER (WHERE eligible), 0),
           coalesce(array_agg(id) FILTER (WHERE eligible), '{}'),
           count(*) > 0 AND bool_and((missing <> '{}' OR exceeded <> '{}') AND NOT otherwise_refused),
           ARRAY(SELECT DISTINCT unnest(j.missing) FROM judged j ORDER BY 1),
           ARRAY(SELECT DISTINCT unnest(j.exceeded) FROM judged j ORDER BY 1)
    FROM judged;
$$;
