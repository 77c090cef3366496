-- fill_review_backlog: so many rows past the window of each step of retention, all at once: for `horde bench moderation`.
-- $1 amount integer
-- $2 text_days integer
-- $3 ipaddr_days integer
-- $4 suspicion_days integer
WITH events AS (
    INSERT INTO moderation.moderation_events (created, user_id, ipaddr, reason, outcome, text_state, text_sha256, text_chars)
    SELECT now() - make_interval(days => days, mins => n), 1000000 + n % 50000 / 100 * 100, '198.51.100.9', 'model_rejection', 'rejected',
           'stored', repeat('0', 64), 460
    FROM generate_series(1, $1::integer) AS n, unnest(ARRAY[365, $2::integer, $3::integer]) AS days
), jobs AS (
    INSERT INTO moderation.user_problem_jobs (created, user_id, worker_id, job_id, ipaddr)
    SELECT now() - make_interval(days => days, mins => n), 1000000 + n % 50000 / 100 * 100, gen_random_uuid(), gen_random_uuid(), '198.51.100.9'
    FROM generate_series(1, $1) AS n, unnest(ARRAY[365, $3]) AS days
), suspicions AS (
    INSERT INTO moderation.worker_suspicion_events (created, worker_id, worker_name, user_id, suspicion_id, detail)
    SELECT now() - make_interval(days => $4::integer, mins => n), gen_random_uuid(), 'gone', 1000000, 5, 'Too fast.' FROM generate_series(1, $1) AS n
)
INSERT INTO moderation.moderation_access_log (created, moderator_id, action, endpoint)
SELECT now() - make_interval(days => 365, mins => n), 1, 'noted', 'POST /v2/operations/moderation/prompts/{id}/notes' FROM generate_series(1, $1) AS n
