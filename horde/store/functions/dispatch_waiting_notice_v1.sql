-- dispatch.waiting_notice_v1: what a waiting pop has to know of a request to tell whether it may fit, as JSON.
-- Called by tell_waiting_v1. A message has to be under 8000 bytes: lists that are too long are null, which means any.
CREATE FUNCTION dispatch.waiting_notice_v1(r dispatch.waiting_prompts) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog AS $$
    SELECT json_build_object(
        'jobs', r.n, 'chat', r.is_chat, 'features', r.chat_required_features, 'images', r.has_images, 'trusted', r.trusted_workers,
        'validated', r.validated_backends, 'speed', r.min_speed, 'length', r.max_length, 'context', r.max_context_length,
        'temperature', r.chat_tools_temperature, 'user', r.user_id, 'avoid', r.worker_blacklist,
        'models', CASE WHEN octet_length(array_to_json(r.models)::text) < 5000 THEN array_to_json(r.models) END,
        'workers', CASE WHEN cardinality(r.workers) < 20 THEN array_to_json(r.workers) END)::text;
$$;
