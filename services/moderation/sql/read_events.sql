-- read_events: these events as moderators see them, newest first, with what holds each from retention: what its steps ask of each row,
-- a note before the account's standing. Written as values of subqueries, which are read for one row each: as EXISTS the standing of every
-- account would be looked up for a page.
-- reads only
-- $1 ids bigint[]
SELECT e.id, e.created, e.reason, e.outcome, e.user_id, a.alias AS username, e.proxied_account, e.request_id, e.worker_id,
       e.ipaddr, e.origin_text, e.ip_subject_key, e.models, e.text_state, e.submitted_prompt, e.moderation_prompt,
       e.effective_prompt, e.text_sha256, e.text_chars, e.text_truncated, e.text_redacted, e.ipaddr_redacted, e.anonymized,
       CASE WHEN (SELECT true FROM moderation.moderation_event_notes n WHERE n.event_id = e.id LIMIT 1) THEN 'note'
            WHEN (SELECT true FROM admission.restricted_accounts r WHERE r.user_id = e.user_id LIMIT 1) THEN 'account_status'
       END AS hold_source
FROM moderation.moderation_events e LEFT JOIN admission.account_standing a ON a.id = e.user_id
WHERE e.id = ANY ($1) ORDER BY e.id DESC;
