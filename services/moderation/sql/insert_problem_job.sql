-- insert_problem_job: one worker's report about one job of an account. A repeat writes nothing and gives no row.
-- $1 user_id int
-- $2 proxied_account text
-- $3 worker_id uuid
-- $4 job_id uuid
-- $5 ipaddr text, the subject of the address
-- $6 origin_text text, what there was in place of an address
-- $7 happened timestamptz, null: now
INSERT INTO moderation.user_problem_jobs (user_id, proxied_account, worker_id, job_id, ipaddr, origin_text, created)
VALUES ($1, $2, $3, $4, $5, $6, least($7::timestamptz, now()))
ON CONFLICT (job_id) DO NOTHING
RETURNING id
