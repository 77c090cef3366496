-- read_reply_target: a generation, what its reply is measured and priced by, and who holds the key it was handed in with.
-- $1 generation uuid
-- $2 key_hash text
SELECT g.wp_id AS request_id, g.model, g.start_time, g.job_ttl, g.worker_trusted, g.streamed, g.fake, g.faulted,
       g.generation IS NOT NULL AS finished, g.assigned_model, g.chat_refusal_rc, g.over_capacity_at_assignment,
       r.is_chat, r.max_length, length(r.prompt) AS prompt_characters, r.chat_extras, r.chat_conformance = 'strict' AS strict,
       cardinality(r.workers) > 0 AND NOT r.worker_blacklist AS targeted, r.webhook,
       w.id AS worker_id, w.name AS worker_name, w.user_id AS owner_id, w.bridge_agent, w.validated_backend, w.maintenance,
       caller.id AS caller_id, coalesce(caller.trusted, false) AS caller_trusted
FROM dispatch.processing_gens g
JOIN dispatch.waiting_prompts r ON r.id = g.wp_id
JOIN dispatch.workers w ON w.id = g.worker_id
LEFT JOIN admission.account_standing caller ON caller.api_key = $2
WHERE g.id = $1
