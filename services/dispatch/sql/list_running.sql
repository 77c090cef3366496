-- list_running: a request's generations that run now, with what settling one is priced by.
-- $1 request uuid
SELECT g.id, g.model, g.fake, g.streamed, r.max_length, length(r.prompt) AS prompt_characters, w.validated_backend, owner.trusted,
       cardinality(r.workers) > 0 AND NOT r.worker_blacklist AS targeted
FROM dispatch.processing_gens g
JOIN dispatch.waiting_prompts r ON r.id = g.wp_id
JOIN dispatch.workers w ON w.id = g.worker_id
JOIN admission.account_standing owner ON owner.id = w.user_id
WHERE g.wp_id = $1 AND g.generation IS NULL AND NOT g.faulted
