-- fill_review_logs: a year of worker suspicions, of reports and of what moderators read, a fifth as many each as there are events:
-- for `horde bench moderation`.
-- $1 amount integer
-- $2 moderator integer
-- $3 suspicion_days integer
-- $4 newest bigint, the last event
WITH suspicions AS (
    INSERT INTO moderation.worker_suspicion_events (created, worker_id, worker_name, user_id, suspicion_id, detail)
    SELECT now() - make_interval(days => $3::integer) * ($1::integer - n) / $1, lpad(to_hex(w), 32, '0')::uuid, 'bench worker ' || w,
           1000000 + w, n % 10, 'Too fast.'
    FROM (SELECT n, floor(2000 * power(random(), 2))::integer AS w FROM generate_series(1, $1::integer) AS n OFFSET 0) drawn
), reports AS (
    INSERT INTO moderation.user_problem_jobs (created, user_id, worker_id, job_id)
    SELECT now() - interval '362 days' * ($1 - n) / $1, 1000000 + floor(50000 * power(random(), 3))::integer,
           lpad(to_hex(n % 200), 32, '0')::uuid, gen_random_uuid()
    FROM generate_series(1, $1) AS n
)
INSERT INTO moderation.moderation_access_log (created, moderator_id, action, endpoint, event_ids)
SELECT now() - interval '362 days' * ($1 - n) / $1, CASE WHEN n % 1000 = 0 THEN 1000001 ELSE $2::integer END, 'link_issued',
       'GET /v2/operations/moderation/prompts', ARRAY(SELECT $4::bigint * n / $1 - i FROM generate_series(0, 19) AS i)
FROM generate_series(1, $1) AS n
