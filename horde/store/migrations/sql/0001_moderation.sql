-- moderation's tables: modes, filters, recorded events.

-- One row.
CREATE TABLE moderation.settings (
    id          integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    raid        boolean NOT NULL DEFAULT false,
    invite_only boolean NOT NULL DEFAULT false,
    maintenance boolean NOT NULL DEFAULT false
);
INSERT INTO moderation.settings DEFAULT VALUES;

CREATE TABLE moderation.filters (
    id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    regex       text NOT NULL,
    filter_type smallint NOT NULL CHECK (filter_type BETWEEN 10 AND 29),
    description text,
    replacement text NOT NULL DEFAULT '',
    user_id     integer NOT NULL,
    UNIQUE (regex, filter_type)
);

-- One refused prompt or reported job. The constraints make the promises of retention provable here.
CREATE TABLE moderation.moderation_events (
    id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created             timestamptz NOT NULL DEFAULT now(),
    -- no foreign key: an event outlives its account
    user_id             integer,
    proxied_account     varchar(1000),
    -- null for a rejection, which never became a request
    request_id          uuid,
    job_id              uuid CONSTRAINT uq_moderation_events_job_id UNIQUE,
    worker_id           uuid,
    -- the subject of the address; origin_text only when there was none
    ipaddr              varchar(43),
    origin_text         varchar(255),
    ip_subject_key      varchar(64) CONSTRAINT ck_moderation_events_key CHECK (ip_subject_key ~ '^[0-9a-f]{64}$'),
    models              jsonb NOT NULL DEFAULT '[]'::jsonb,
    reason              varchar(32) NOT NULL,
    outcome             varchar(16) NOT NULL,
    submitted_prompt    text,
    moderation_prompt   text,
    effective_prompt    text,
    text_state          varchar(8) NOT NULL DEFAULT 'pending' CHECK (text_state IN ('pending', 'stored', 'none')),
    text_sha256         varchar(64) CONSTRAINT ck_moderation_events_sha CHECK (text_sha256 ~ '^[0-9a-f]{64}$'),
    text_chars          integer CONSTRAINT ck_moderation_events_chars CHECK (text_chars BETWEEN 0 AND 48000),
    text_truncated      boolean NOT NULL DEFAULT false,
    text_redacted       boolean NOT NULL DEFAULT false,
    ipaddr_redacted     boolean NOT NULL DEFAULT false,
    anonymized          boolean NOT NULL DEFAULT false,
    CONSTRAINT ck_moderation_events_reason_outcome CHECK ((reason, outcome) IN
        (('filter_rejection', 'rejected'), ('model_rejection', 'rejected'), ('worker_csam', 'censored'))),
    CONSTRAINT ck_moderation_events_origin CHECK (origin_text IS NULL OR num_nonnulls(ipaddr, ip_subject_key) = 0),
    CONSTRAINT ck_moderation_events_stage_len CHECK (char_length(coalesce(submitted_prompt, '')) <= 16000
        AND char_length(coalesce(moderation_prompt, '')) <= 16000 AND char_length(coalesce(effective_prompt, '')) <= 16000),
    CONSTRAINT ck_moderation_events_inline CHECK (text_state = 'pending'
        OR num_nonnulls(submitted_prompt, moderation_prompt, effective_prompt) = 0),
    CONSTRAINT ck_moderation_events_pending CHECK (text_state <> 'pending'
        OR num_nonnulls(submitted_prompt, moderation_prompt, effective_prompt) > 0),
    CONSTRAINT ck_moderation_events_none CHECK (text_state <> 'none' OR num_nonnulls(text_sha256, text_chars) = 0),
    CONSTRAINT ck_moderation_events_text_gone CHECK (NOT text_redacted OR text_state = 'none'),
    CONSTRAINT ck_moderation_events_address_gone CHECK (NOT ipaddr_redacted OR num_nonnulls(ipaddr, origin_text) = 0),
    CONSTRAINT ck_moderation_events_identity_gone CHECK (NOT anonymized OR (text_redacted AND ipaddr_redacted
        AND num_nonnulls(user_id, proxied_account, request_id, job_id, ip_subject_key) = 0))
);
CREATE INDEX ix_moderation_events_created ON moderation.moderation_events (created DESC, id DESC);
CREATE INDEX ix_moderation_events_user ON moderation.moderation_events (user_id, id DESC) WHERE user_id IS NOT NULL;

CREATE TABLE moderation.moderation_event_notes (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- a noted event cannot be deleted
    event_id    bigint NOT NULL REFERENCES moderation.moderation_events ON DELETE RESTRICT,
    author_id   integer NOT NULL,
    note        varchar(2000) NOT NULL CONSTRAINT ck_moderation_event_notes_nonblank CHECK (note ~ '\S'),
    created     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ix_moderation_event_notes_event ON moderation.moderation_event_notes (event_id, id);
