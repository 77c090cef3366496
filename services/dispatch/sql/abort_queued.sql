-- abort_queued: in maintenance, cancel what waits; jobs under way settle as usual (decision 18). Rows that somebody holds are left for the next pass.
-- $1 amount int
WITH due AS (
    SELECT id FROM dispatch.waiting_prompts WHERE active AND NOT faulted AND n > 0 LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
),
aborted AS (
    UPDATE dispatch.waiting_prompts r SET cancelled = true, n = 0 FROM due WHERE r.id = due.id RETURNING r.id, r.is_chat
),
closed AS (
    UPDATE dispatch.wp_models m SET waiting = false FROM aborted WHERE m.wp_id = aborted.id AND m.waiting
)
SELECT id, is_chat FROM aborted
