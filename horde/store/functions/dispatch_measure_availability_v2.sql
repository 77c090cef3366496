-- dispatch.measure_availability_v2: which online workers could take a request, and why the others could not.
-- Called by admission before activation. As v1, whose parameters and conditions it shares, but what the others lack is worked out only when
-- nobody could take the request, for nobody asks for it otherwise: gap is false, missing and exceeded are empty while a worker is eligible.
CREATE FUNCTION dispatch.measure_availability_v2(p_row jsonb, p_online interval, p_unmeasured double precision, p_capacity_seconds double precision)
RETURNS TABLE (eligible_workers integer, eligible_threads integer, tokens_per_second double precision, worker_ids uuid[],
               gap boolean, missing text[], exceeded text[])
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    r dispatch.waiting_prompts := jsonb_populate_record(NULL::dispatch.waiting_prompts, p_row);
    v_named boolean := coalesce(r.workers, '{}') <> '{}';
    v_avoided boolean := coalesce(r.worker_blacklist, false);
    v_pictures text[] := ARRAY['url', 'base64'];
BEGIN
    gap := false;
    missing := '{}';
    exceeded := '{}';
    IF r.is_chat THEN
        SELECT count(*), coalesce(sum(greatest(w.threads, 1)), 0), coalesce(sum(coalesce(w.speed, p_unmeasured) * greatest(w.threads, 1)), 0),
               coalesce(array_agg(w.id), '{}')
        INTO eligible_workers, eligible_threads, tokens_per_second, worker_ids
        FROM dispatch.workers w
        WHERE w.accepts_chat_jobs AND w.chat_model_id = ANY (r.models) AND w.last_check_in > now() - p_online
          AND coalesce(r.chat_required_features, '{}') <@ w.chat_features
          AND (r.has_images IS NOT TRUE OR 'vision' <> ALL (w.chat_features) OR w.image_transports && v_pictures)
          AND w.chat_max_context_length >= r.max_context_length AND w.chat_max_length >= r.max_length
          AND (r.chat_tools_temperature > w.chat_tools_max_temperature) IS NOT TRUE
          AND coalesce(w.speed, p_unmeasured) * p_capacity_seconds >= r.max_length
          AND coalesce(w.speed, 1) >= coalesce(r.min_speed, 0)
          AND (NOT (w.maintenance OR w.paused) OR w.user_id = r.user_id)
          AND (r.validated_backends IS NOT TRUE OR w.validated_backend)
          AND (NOT v_named OR (w.id = ANY (r.workers)) <> v_avoided)
          AND (r.trusted_workers IS NOT TRUE OR (SELECT owner.trusted FROM admission.account_standing owner WHERE owner.id = w.user_id));
    ELSE
        SELECT count(*), coalesce(sum(greatest(w.threads, 1)), 0), coalesce(sum(coalesce(w.speed, p_unmeasured) * greatest(w.threads, 1)), 0),
               coalesce(array_agg(w.id), '{}')
        INTO eligible_workers, eligible_threads, tokens_per_second, worker_ids
        FROM dispatch.workers w
        WHERE w.accepts_prompt_jobs AND (r.models = '{}' OR w.models && r.models) AND w.last_check_in > now() - p_online
          AND w.max_context_length >= r.max_context_length AND w.max_length >= r.max_length
          AND (coalesce(r.softprompt, '') = '' OR r.softprompt = ANY (w.softprompts))
          AND coalesce(w.speed, 1) >= coalesce(r.min_speed, 0)
          AND (NOT (w.maintenance OR w.paused) OR w.user_id = r.user_id)
          AND (r.validated_backends IS NOT TRUE OR w.validated_backend)
          AND (NOT v_named OR (w.id = ANY (r.workers)) <> v_avoided)
          AND (r.trusted_workers IS NOT TRUE OR (SELECT owner.trusted FROM admission.account_standing owner WHERE owner.id = w.user_id));
    END IF;
    IF eligible_workers > 0 THEN
        RETURN NEXT;
    ELSE
        RETURN QUERY SELECT * FROM dispatch.measure_availability_v1(p_row, p_online, p_unmeasured, p_capacity_seconds);
    END IF;
END $$;
