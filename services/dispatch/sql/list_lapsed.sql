-- list_lapsed: running generations whose lease has ended, the longest lapsed first.
-- $1 now timestamptz
-- $2 amount int
SELECT g.id, g.wp_id AS request_id, g.streamed, g.fake, g.worker_trusted, g.over_capacity_at_assignment, r.is_chat, r.max_length
FROM dispatch.processing_gens g JOIN dispatch.waiting_prompts r ON r.id = g.wp_id
WHERE g.generation IS NULL AND NOT g.faulted AND g.lease_until < $1
ORDER BY g.lease_until LIMIT $2
