-- report_csam: a worker reported its reply as csam: moderation has to be told whose request it was and what it said (decision 16).
-- Run in the transaction that stores the reply, so that a report is never lost. `origin` is the address as stored with the request.
-- Moderation keeps 16,000 characters of a prompt; one more tells it that there were others. A whole one may have 16 MiB.
-- $1 generation uuid
-- $2 now timestamptz
INSERT INTO dispatch.worker_reports (kind, report, created)
SELECT 'csam', jsonb_build_object(
    'request_id', r.id, 'job_id', g.id, 'worker_id', w.id, 'worker_name', w.name, 'user_id', r.user_id,
    'proxied_account', r.proxied_account, 'origin', r.ipaddr, 'models', r.models, 'submitted_prompt', left(r.submitted_prompt, 16001),
    'effective_prompt', left(r.prompt, 16001)), $2
FROM dispatch.processing_gens g
JOIN dispatch.waiting_prompts r ON r.id = g.wp_id
JOIN dispatch.workers w ON w.id = g.worker_id
WHERE g.id = $1 AND NOT g.fake
