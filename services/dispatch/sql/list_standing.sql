-- list_standing: what waits, by lane, in the words of dispatch.waiting_notice_v1: for a process that may have missed messages.
-- Costs one index probe for each lane. Index: ix_wp_models_lane.
SELECT json_build_object(
           'jobs', 8, 'chat', l.is_chat, 'features', l.required_features, 'images', l.has_images, 'trusted', l.trusted_workers,
           'validated', l.validated_backends, 'speed', l.min_speed, 'length', l.length_bucket / 2 + 1,
           'context', l.context_bucket / 2 + 1, 'temperature', NULL, 'user', NULL, 'avoid', false,
           'models', CASE WHEN l.model = '' THEN '{}' ELSE ARRAY[l.model] END, 'workers', NULL)::text AS notice
FROM dispatch.lanes l
WHERE EXISTS (SELECT FROM dispatch.wp_models m WHERE m.lane_id = l.id AND m.waiting)
