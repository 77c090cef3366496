-- Moderation, completed: what review, retention and the evidence store read and write. Only adds; the code before it runs on it.

-- Everything that the fate map clears is gone wherever its flag says so (services/moderation/rules/fates.py; compared at every start).
ALTER TABLE moderation.moderation_events
    DROP CONSTRAINT ck_moderation_events_text_gone,
    DROP CONSTRAINT ck_moderation_events_address_gone,
    DROP CONSTRAINT ck_moderation_events_identity_gone,
    ADD CONSTRAINT ck_moderation_events_text_gone CHECK (NOT text_redacted OR (text_state = 'none'
        AND num_nonnulls(submitted_prompt, moderation_prompt, effective_prompt, text_sha256, text_chars) = 0)),
    ADD CONSTRAINT ck_moderation_events_address_gone CHECK (NOT ipaddr_redacted OR num_nonnulls(ipaddr, origin_text) = 0),
    ADD CONSTRAINT ck_moderation_events_identity_gone CHECK (NOT anonymized OR (text_redacted AND ipaddr_redacted
        AND num_nonnulls(user_id, proxied_account, request_id, job_id, ip_subject_key) = 0));

-- Review: a page of each filter reads its own index, newest id first.
CREATE INDEX ix_moderation_events_reason_id ON moderation.moderation_events (reason, id);
CREATE INDEX ix_moderation_events_proxied_account_id ON moderation.moderation_events (proxied_account, id)
    WHERE proxied_account IS NOT NULL;
CREATE INDEX ix_moderation_events_worker_id_id ON moderation.moderation_events (worker_id, id) WHERE worker_id IS NOT NULL;
CREATE INDEX ix_moderation_events_ip_subject_key_id ON moderation.moderation_events (ip_subject_key, id)
    WHERE ip_subject_key IS NOT NULL;
CREATE INDEX ix_moderation_events_unkeyed_ipaddr_id ON moderation.moderation_events (ipaddr, id)
    WHERE ip_subject_key IS NULL AND ipaddr IS NOT NULL;
-- The evidence store: what waits to be uploaded.
CREATE INDEX ix_moderation_events_upload_pending ON moderation.moderation_events (id) WHERE text_state = 'pending';
-- Retention: each step reads only what it has not finished.
CREATE INDEX ix_moderation_events_text_due ON moderation.moderation_events (created, id) WHERE NOT text_redacted;
CREATE INDEX ix_moderation_events_address_due ON moderation.moderation_events (created, id) WHERE NOT ipaddr_redacted;
CREATE INDEX ix_moderation_events_ceiling_due ON moderation.moderation_events (created, id) WHERE NOT anonymized;

-- What a moderator made of an event, without a word and without holding it. Gone at the ceiling.
CREATE TABLE moderation.moderation_event_marks (
    event_id     bigint NOT NULL REFERENCES moderation.moderation_events ON DELETE RESTRICT,
    moderator_id integer NOT NULL,
    mark         varchar(16) NOT NULL CONSTRAINT ck_moderation_event_marks_mark CHECK (mark IN ('seen', 'dismissed')),
    created      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (event_id, moderator_id)
);

-- Who was given what to read. A link that was issued is a possible access, not a proven one. A window of its own.
CREATE TABLE moderation.moderation_access_log (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created        timestamptz NOT NULL DEFAULT now(),
    moderator_id   integer NOT NULL,
    action         varchar(16) NOT NULL CONSTRAINT ck_moderation_access_log_action
        CHECK (action IN ('listed_inline', 'link_issued', 'revealed', 'noted', 'exported')),
    endpoint       varchar(100) NOT NULL,
    event_ids      bigint[] NOT NULL DEFAULT '{}',
    filter_names   text[] NOT NULL DEFAULT '{}',
    subject_key    varchar(64),
    request_ip_key varchar(64)
);
CREATE INDEX ix_moderation_access_log_created ON moderation.moderation_access_log (created, id);

-- One report of a worker about one job. No foreign keys: it outlives account, worker and job. Alerts count these rows.
CREATE TABLE moderation.user_problem_jobs (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created         timestamptz NOT NULL DEFAULT now(),
    user_id         integer NOT NULL,
    proxied_account varchar(1000),
    worker_id       uuid NOT NULL,
    -- a repeated report does not count twice
    job_id          uuid NOT NULL CONSTRAINT uq_user_problem_jobs_job_id UNIQUE,
    ipaddr          varchar(43),
    origin_text     varchar(255),
    CONSTRAINT ck_user_problem_jobs_origin CHECK (origin_text IS NULL OR ipaddr IS NULL)
);
CREATE INDEX ix_user_problem_jobs_created ON moderation.user_problem_jobs (created, id);
CREATE INDEX ix_user_problem_jobs_user_id_created ON moderation.user_problem_jobs (user_id, created);
CREATE INDEX ix_user_problem_jobs_ipaddr_created ON moderation.user_problem_jobs (ipaddr, created) WHERE ipaddr IS NOT NULL;
CREATE INDEX ix_user_problem_jobs_ipaddr_pending ON moderation.user_problem_jobs (created, id)
    WHERE ipaddr IS NOT NULL OR origin_text IS NOT NULL;

-- The history of worker suspicions: never reset, and without foreign keys, so that it outlives worker and account.
CREATE TABLE moderation.worker_suspicion_events (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created      timestamptz NOT NULL DEFAULT now(),
    worker_id    uuid NOT NULL,
    worker_name  varchar(100) NOT NULL,
    user_id      integer NOT NULL,
    suspicion_id integer NOT NULL,
    detail       text NOT NULL,
    -- what the sender calls its report, so that a repeated one is known; null: it has no name
    report_id    uuid CONSTRAINT uq_worker_suspicion_events_report_id UNIQUE
);
CREATE INDEX ix_worker_suspicion_events_created ON moderation.worker_suspicion_events (created, id);
CREATE INDEX ix_worker_suspicion_events_worker_id_id ON moderation.worker_suspicion_events (worker_id, id);
CREATE INDEX ix_worker_suspicion_events_user_id_id ON moderation.worker_suspicion_events (user_id, id);

-- The accounts whose standing holds what is remembered of them: flagged, or suspicious (base-domain 2.7). The one definition; the same as
-- admission.account_standing tells of one account, but all of them are found without a look at every account.
CREATE VIEW admission.restricted_accounts AS
SELECT u.id AS user_id
FROM (
    SELECT r.user_id FROM admission.user_roles r WHERE r.user_role = 3
    UNION
    SELECT s.user_id FROM admission.user_suspicions s
    WHERE NOT EXISTS (SELECT FROM admission.user_roles t WHERE t.user_id = s.user_id AND t.user_role = 1)
    GROUP BY s.user_id HAVING count(*) >= 5) restricted
JOIN admission.users u ON u.id = restricted.user_id
WHERE u.oauth_id <> 'anon';
GRANT SELECT ON admission.restricted_accounts TO horde_moderation;

-- A note is for good, also for whoever owns the database and slips.
CREATE FUNCTION moderation.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a % of % is refused: its rows are never changed', lower(TG_OP), TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER never_changed BEFORE UPDATE OR DELETE ON moderation.moderation_event_notes
    FOR EACH ROW EXECUTE FUNCTION moderation.refuse_change();

GRANT SELECT, INSERT, UPDATE, DELETE ON moderation.moderation_event_marks, moderation.user_problem_jobs TO horde_moderation;
GRANT SELECT, INSERT, DELETE ON moderation.moderation_access_log, moderation.worker_suspicion_events TO horde_moderation;
-- FOR UPDATE SKIP LOCKED asks for the right to update; nothing updates them.
GRANT UPDATE (created) ON moderation.moderation_access_log, moderation.worker_suspicion_events TO horde_moderation;
REVOKE UPDATE, DELETE ON moderation.moderation_event_notes FROM horde_moderation;
REVOKE DELETE ON moderation.moderation_events FROM horde_moderation;
