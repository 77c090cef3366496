-- dispatch.accept_v2: store one request: claimable at once, or inactive when p_priority is null.
-- Called by enqueue_v2.
-- p_row: the columns that are not at their default; `workers` and `models` are arrays, kudos are hundredths. p_priority in whole kudos.
CREATE FUNCTION dispatch.accept_v2(
    p_row jsonb, p_prompt text, p_submitted_prompt text, p_messages jsonb, p_priority bigint, OUT r dispatch.waiting_prompts
) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    v_now timestamptz := CASE WHEN p_priority IS NOT NULL THEN clock_timestamp() END;
BEGIN
    r := jsonb_populate_record(NULL::dispatch.waiting_prompts, p_row);
    INSERT INTO dispatch.waiting_prompts (
        id, is_chat, user_id, sharedkey_id, created, expiry, n, jobs, things, total_usage, kudos, consumed_kudos,
        active, activated_at, extra_priority, rank,
        prompt, submitted_prompt, params, gen_payload, messages, safe_ip,
        trusted_workers, validated_backends, slow_workers, workers, worker_blacklist, models, min_speed,
        max_length, max_context_length, softprompt, webhook, disable_batching, client_agent, ipaddr, proxied_account, traceparent,
        has_images, image_keys, chat_extras, chat_required_features, chat_conformance, chat_tools_temperature,
        chat_messages_offloaded, context_adjustments, operation_key, operation_fingerprint
    ) VALUES (
        r.id, coalesce(r.is_chat, false), r.user_id, r.sharedkey_id, r.created, r.expiry, r.jobs, r.jobs, r.max_length,
        round((r.max_length * r.jobs)::numeric, 2), coalesce(r.kudos, 0), coalesce(r.consumed_kudos, 0),
        -- upstream raises a waiting request's priority by 50 every 10 seconds; a rank that falls with the time of activation orders the same (decision 17)
        p_priority IS NOT NULL, v_now, coalesce(p_priority, 0), coalesce(p_priority - 5 * extract(epoch FROM v_now), 0),
        p_prompt, p_submitted_prompt, r.params, r.gen_payload, p_messages, coalesce(r.safe_ip, true),
        coalesce(r.trusted_workers, false), coalesce(r.validated_backends, false), coalesce(r.slow_workers, true),
        coalesce(r.workers, '{}'), coalesce(r.worker_blacklist, false), coalesce(r.models, '{}'), coalesce(r.min_speed, 0),
        r.max_length, r.max_context_length, r.softprompt, r.webhook, coalesce(r.disable_batching, false), r.client_agent, r.ipaddr,
        r.proxied_account, r.traceparent, coalesce(r.has_images, false), coalesce(r.image_keys, '{}'), r.chat_extras,
        coalesce(r.chat_required_features, '{}'), coalesce(r.chat_conformance, 'strict'), r.chat_tools_temperature,
        coalesce(r.chat_messages_offloaded, false), r.context_adjustments, r.operation_key, r.operation_fingerprint
    ) RETURNING * INTO r;
    -- only workers to seek: a pop finds what names its worker here, and reads the ones to avoid off the row
    IF r.workers <> '{}' AND NOT r.worker_blacklist THEN
        INSERT INTO dispatch.wp_allowed_workers (wp_id, worker_id) SELECT r.id, unnest(r.workers) ON CONFLICT DO NOTHING;
    END IF;
END $$;
