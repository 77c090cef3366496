-- dispatch.lane_v1: the lane of one request for one model, made when it is new. See docs/adr on lanes.
-- Called by enqueue_v1. The lane's row is locked against deletion until the caller commits.
CREATE FUNCTION dispatch.lane_v1(r dispatch.waiting_prompts, p_model text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    -- upper bounds of the power-of-two buckets the lengths fall in
    v_length integer := 1 << ceil(log(2.0, r.max_length))::integer;
    v_context integer := 1 << ceil(log(2.0, r.max_context_length))::integer;
    v_targeted boolean := cardinality(r.workers) > 0 AND NOT r.worker_blacklist;
    v_lane bigint;
BEGIN
    LOOP
        SELECT l.id INTO v_lane FROM dispatch.lanes l
        WHERE l.is_chat = r.is_chat AND l.model = p_model AND l.required_features = r.chat_required_features
          AND l.has_images = r.has_images AND l.trusted_workers = r.trusted_workers AND l.validated_backends = r.validated_backends
          AND l.min_speed = r.min_speed AND l.length_bucket = v_length AND l.context_bucket = v_context AND l.targeted = v_targeted
        FOR KEY SHARE;
        EXIT WHEN FOUND;
        INSERT INTO dispatch.lanes (is_chat, model, required_features, has_images, trusted_workers, validated_backends, min_speed,
                                    length_bucket, context_bucket, targeted)
        VALUES (r.is_chat, p_model, r.chat_required_features, r.has_images, r.trusted_workers, r.validated_backends, r.min_speed,
                v_length, v_context, v_targeted)
        ON CONFLICT DO NOTHING;
    END LOOP;
    RETURN v_lane;
END $$;
