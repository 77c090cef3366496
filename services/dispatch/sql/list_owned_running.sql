-- list_owned_running: those of these generations that run at a worker of an account, with their request. Index: the primary keys.
-- $1 generations uuid[]
-- $2 key_hash text
SELECT g.wp_id, g.id
FROM dispatch.processing_gens g
JOIN dispatch.workers w ON w.id = g.worker_id
JOIN admission.account_standing a ON a.id = w.user_id
WHERE g.id = ANY ($1) AND a.api_key = $2 AND g.generation IS NULL AND NOT g.faulted
