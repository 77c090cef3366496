-- fill_review_workers: workers of those accounts, one in ten of them paused for its suspicions: for `horde bench moderation`. A repeat adds nothing.
-- $1 amount integer
WITH made AS (
    INSERT INTO dispatch.workers (id, user_id, name, created, last_check_in, paused)
    SELECT lpad(to_hex(n), 32, '0')::uuid, 1000000 + n, 'bench worker ' || n, now() - interval '30 days',
           now() - make_interval(mins => n), n % 10 = 0
    FROM generate_series(0, $1::integer - 1) AS n
    ON CONFLICT DO NOTHING
    RETURNING id, paused
)
INSERT INTO dispatch.worker_suspicions (worker_id, suspicion_id)
SELECT id, reason FROM made, unnest(ARRAY[5, 5, 3, 5, 9, 5]) AS reason WHERE paused
