-- read_events: these events as moderators see them, newest first, with what holds each from retention.
-- reads only
-- $1 ids bigint[]
SELECT e.id, e.created, e.reason, e.outcome, e.user_id, a.alias AS username, e.proxied_account, e.request_id, e.worker_id,
       e.ipaddr, e.origin_text, e.ip_subject_key, e.models, e.text_state, e.submitted_prompt, e.moderation_prompt,
       e.effective_prompt, e.text_sha256, e.text_chars, e.text_truncated, e.text_redacted, e.ipaddr_redacted, e.anonymized,
       moderation.hold_source_v1(e.id, e.user_id) AS hold_source
FROM moderation.moderation_events e LEFT JOIN admission.account_standing a ON a.id = e.user_id
WHERE e.id = ANY ($1) ORDER BY e.id DESC;
