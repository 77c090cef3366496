-- fill_queue: many waiting requests of one shape, as dispatch.enqueue_v1 would leave them, in one statement: for `horde bench pop`.
-- All stand in the same lanes: the lengths vary below those of the shape by less than half of it.
-- $1 amount integer
-- $2 shape jsonb columns of dispatch.waiting_prompts
-- $3 spread integer by how much the lengths vary
WITH shape AS MATERIALIZED (
    SELECT (jsonb_populate_record(NULL::dispatch.waiting_prompts, $2::jsonb || '{"chat_conformance": "strict"}')).*
), lanes AS MATERIALIZED (
    SELECT model, dispatch.lane_v1(shape::dispatch.waiting_prompts, model) AS lane_id
    FROM shape, unnest(CASE WHEN shape.models = '{}' THEN ARRAY[''] ELSE shape.models END) AS model
), made AS (
    INSERT INTO dispatch.waiting_prompts (
        id, is_chat, user_id, created, activated_at, expiry, active, n, jobs, things, total_usage, extra_priority, rank, prompt, params,
        gen_payload, messages, workers, worker_blacklist, models, max_length, max_context_length, chat_required_features, has_images,
        trusted_workers, validated_backends, min_speed, chat_extras, client_agent)
    SELECT uuidv7(), s.is_chat, 1000000 + i % 1000, now(), now(), now() + interval '6 hours', true, 1, 1, s.max_length,
           s.max_length, s.extra_priority, s.extra_priority - 5 * extract(epoch FROM now()) - 1000 * random(),
           repeat('Tell me about the sea. ', 10), '{"temperature": 0.7}', '{}',
           CASE WHEN s.is_chat THEN jsonb_build_array(jsonb_build_object('role', 'user', 'content', repeat('Tell me about the sea. ', 10)))
           END, s.workers, s.worker_blacklist, s.models, s.max_length - (random() * $3::integer)::integer, s.max_context_length,
           s.chat_required_features, s.has_images, s.trusted_workers, s.validated_backends, s.min_speed,
           CASE WHEN s.is_chat THEN '{}'::jsonb END, 'horde-bench'
    FROM shape s, generate_series(1, $1::integer) AS i
    RETURNING id, user_id, rank, created, max_length, max_context_length, workers, worker_blacklist
), named AS (
    INSERT INTO dispatch.wp_allowed_workers (wp_id, worker_id, rank, created, waiting)
    SELECT id, unnest(workers), rank, created, true FROM made WHERE NOT worker_blacklist
)
INSERT INTO dispatch.wp_models (wp_id, model, lane_id, user_id, rank, created, max_length, max_context_length, waiting)
SELECT made.id, lanes.model, lanes.lane_id, made.user_id, made.rank, made.created, made.max_length, made.max_context_length, true
FROM made CROSS JOIN lanes
