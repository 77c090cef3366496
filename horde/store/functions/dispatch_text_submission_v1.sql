-- dispatch.text_submission_v1: what was submitted as one text request, and by whom. No row for a chat request.
-- Called by admission for the submitter who reads it back (base-domain 3.13). `submission` has the shape of a submit, without nulls.
CREATE FUNCTION dispatch.text_submission_v1(p_request uuid) RETURNS TABLE (user_id integer, sharedkey_id uuid, submission jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT r.user_id, r.sharedkey_id, jsonb_strip_nulls(jsonb_build_object(
        'prompt', r.submitted_prompt, 'params', r.params || jsonb_build_object('n', r.jobs), 'models', r.models,
        'workers', r.workers, 'worker_blacklist', r.worker_blacklist, 'trusted_workers', r.trusted_workers,
        'validated_backends', r.validated_backends, 'slow_workers', r.slow_workers, 'softprompt', r.softprompt,
        'proxied_account', r.proxied_account, 'webhook', r.webhook))
    FROM dispatch.waiting_prompts r WHERE r.id = p_request AND NOT r.is_chat;
$$;
