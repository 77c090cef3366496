-- What was captured of an event never changes: upload and retention may take values out, and nothing else may be done to them.

-- Columns that are kept for good cannot be written to at all; the others are those that the fate map lets go (services/moderation/rules/fates.py).
REVOKE UPDATE ON moderation.moderation_events FROM horde_moderation;
GRANT UPDATE (user_id, proxied_account, request_id, job_id, ipaddr, origin_text, ip_subject_key, submitted_prompt, moderation_prompt,
    effective_prompt, text_state, text_sha256, text_chars, text_redacted, ipaddr_redacted, anonymized)
    ON moderation.moderation_events TO horde_moderation;

CREATE FUNCTION moderation.refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what was captured of event % may be removed, and never changed', OLD.id USING ERRCODE = 'restrict_violation';
END $$;

-- Also for whoever owns the database and slips. A value may only become NULL; a digest may be filled in where an old row has none; flags are
-- raised and never lowered; a text never comes back. After the CHECKs, and for free where the condition does not hold.
CREATE TRIGGER captured_once AFTER UPDATE ON moderation.moderation_events FOR EACH ROW
WHEN (
    (coalesce(NEW.user_id, OLD.user_id), coalesce(NEW.proxied_account, OLD.proxied_account), coalesce(NEW.request_id, OLD.request_id),
     coalesce(NEW.job_id, OLD.job_id), coalesce(NEW.ipaddr, OLD.ipaddr), coalesce(NEW.origin_text, OLD.origin_text),
     coalesce(NEW.ip_subject_key, OLD.ip_subject_key), coalesce(NEW.submitted_prompt, OLD.submitted_prompt),
     coalesce(NEW.moderation_prompt, OLD.moderation_prompt), coalesce(NEW.effective_prompt, OLD.effective_prompt))
    IS DISTINCT FROM
    (OLD.user_id, OLD.proxied_account, OLD.request_id, OLD.job_id, OLD.ipaddr, OLD.origin_text, OLD.ip_subject_key, OLD.submitted_prompt,
     OLD.moderation_prompt, OLD.effective_prompt)
    OR (NEW.reason, NEW.outcome, NEW.models, NEW.worker_id, NEW.text_truncated)
        IS DISTINCT FROM (OLD.reason, OLD.outcome, OLD.models, OLD.worker_id, OLD.text_truncated)
    OR NEW.text_sha256 <> OLD.text_sha256 OR NEW.text_chars <> OLD.text_chars
    OR NEW.text_redacted < OLD.text_redacted OR NEW.ipaddr_redacted < OLD.ipaddr_redacted OR NEW.anonymized < OLD.anonymized
    OR (OLD.text_state = 'none' AND NEW.text_state <> 'none') OR (OLD.text_state = 'stored' AND NEW.text_state = 'pending')
) EXECUTE FUNCTION moderation.refuse_rewriting();
