-- record_worker_fault: keep why a worker gives a pending chat generation up, unless a refusal of its reply already says more.
-- $1 generation uuid
-- $2 reason text
UPDATE dispatch.waiting_prompts r SET chat_fault_reason = $2, chat_fault_rc = 'ChatWorkerFault'
FROM dispatch.processing_gens g
WHERE g.id = $1 AND g.wp_id = r.id AND g.generation IS NULL AND NOT g.faulted AND NOT g.fake AND g.chat_refusal_rc IS NULL AND r.is_chat
