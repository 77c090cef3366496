-- measure_request: which online workers could take a request, and what the others lack; see dispatch.measure_availability_v2.
-- reads only
-- $1 request uuid
-- $2 online interval
-- $3 unmeasured_speed double
-- $4 capacity_seconds double
SELECT a.eligible_workers, a.eligible_threads, a.tokens_per_second, a.worker_ids, a.gap, a.missing, a.exceeded
FROM dispatch.waiting_prompts r,
LATERAL dispatch.measure_availability_v2(
    jsonb_build_object(
        'is_chat', r.is_chat, 'user_id', r.user_id, 'models', r.models, 'workers', r.workers, 'worker_blacklist', r.worker_blacklist,
        'chat_required_features', r.chat_required_features, 'has_images', r.has_images, 'max_length', r.max_length,
        'max_context_length', r.max_context_length, 'chat_tools_temperature', r.chat_tools_temperature,
        'trusted_workers', r.trusted_workers, 'validated_backends', r.validated_backends, 'min_speed', r.min_speed, 'softprompt', r.softprompt),
    $2, $3, $4) a
WHERE r.id = $1
