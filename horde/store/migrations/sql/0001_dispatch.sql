-- dispatch's tables: workers, requests and their queue, generations, statistics.

-- dispatch: workers ------------------------------------------------------------------------------------------------

CREATE TABLE dispatch.workers (
    id                      uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    worker_type             varchar(30) NOT NULL DEFAULT 'text_worker',
    user_id                 integer NOT NULL,
    name                    varchar(100) NOT NULL UNIQUE,
    info                    varchar(1000),
    ipaddr                  varchar(39),
    created                 timestamptz NOT NULL DEFAULT now(),
    last_check_in           timestamptz NOT NULL DEFAULT now(),
    last_aborted_job        timestamptz,
    kudos                   bigint NOT NULL DEFAULT 0,
    contributions           bigint NOT NULL DEFAULT 0,
    fulfilments             integer NOT NULL DEFAULT 0,
    aborted_jobs            integer NOT NULL DEFAULT 0,
    uncompleted_jobs        integer NOT NULL DEFAULT 0,
    nonconformant_replies   integer NOT NULL DEFAULT 0,
    uptime                  bigint NOT NULL DEFAULT 0,
    last_reward_uptime      bigint NOT NULL DEFAULT 0,
    threads                 integer NOT NULL DEFAULT 1,
    bridge_agent            varchar(1000) NOT NULL DEFAULT 'unknown:0:unknown',
    -- true when the agent's name is one of the validated backends
    validated_backend       boolean NOT NULL DEFAULT false,
    paused                  boolean NOT NULL DEFAULT false,
    maintenance             boolean NOT NULL DEFAULT false,
    maintenance_msg         varchar(300),
    -- tokens per second; null until the first jobs were measured
    speed                   double precision,
    nsfw                    boolean NOT NULL DEFAULT true,
    max_length              integer NOT NULL DEFAULT 80,
    max_context_length      integer NOT NULL DEFAULT 2048,
    models                  text[] NOT NULL DEFAULT '{}',
    softprompts             text[] NOT NULL DEFAULT '{}',
    accepts_chat_jobs       boolean NOT NULL DEFAULT false,
    accepts_prompt_jobs     boolean NOT NULL DEFAULT true,
    chat_features           text[] NOT NULL DEFAULT '{}',
    chat_max_context_length integer,
    chat_max_length         integer,
    chat_model_id           varchar(255),
    chat_tools_max_temperature double precision,
    image_transports        text[] NOT NULL DEFAULT '{}'
);
CREATE INDEX ix_workers_user_id ON dispatch.workers (user_id);
CREATE INDEX ix_workers_last_check_in ON dispatch.workers (last_check_in);
CREATE INDEX ix_workers_chat_model ON dispatch.workers (chat_model_id, last_check_in) WHERE accepts_chat_jobs;
CREATE INDEX ix_workers_models ON dispatch.workers USING gin (models);

CREATE TABLE dispatch.worker_performances (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    worker_id   uuid NOT NULL REFERENCES dispatch.workers ON DELETE CASCADE,
    performance double precision NOT NULL,
    created     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ix_worker_performances_worker ON dispatch.worker_performances (worker_id, created DESC);

CREATE TABLE dispatch.worker_suspicions (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    worker_id       uuid NOT NULL REFERENCES dispatch.workers ON DELETE CASCADE,
    suspicion_id    smallint NOT NULL,
    created         timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ix_worker_suspicions_worker_id ON dispatch.worker_suspicions (worker_id);

-- Totals by what earned the kudos, in hundredths: generated, uptime.
CREATE TABLE dispatch.worker_stats (
    worker_id   uuid NOT NULL REFERENCES dispatch.workers ON DELETE CASCADE,
    action      varchar(20) NOT NULL,
    value       bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (worker_id, action)
);

-- dispatch: requests -----------------------------------------------------------------------------------------------

CREATE TABLE dispatch.waiting_prompts (
    id                      uuid PRIMARY KEY,
    wp_type                 varchar(30) NOT NULL DEFAULT 'text',
    is_chat                 boolean NOT NULL DEFAULT false,
    user_id                 integer NOT NULL,
    sharedkey_id            uuid,
    created                 timestamptz NOT NULL,
    activated_at            timestamptz,
    expiry                  timestamptz NOT NULL,
    active                  boolean NOT NULL DEFAULT false,
    faulted                 boolean NOT NULL DEFAULT false,
    -- the cancel that won the claim
    cancelled               boolean NOT NULL DEFAULT false,
    -- generations still to hand out, and asked for in all
    n                       integer NOT NULL CHECK (n >= 0),
    jobs                    integer NOT NULL CHECK (jobs >= 1),
    -- tokens per generation: max_length
    things                  integer NOT NULL,
    total_usage             double precision NOT NULL,
    -- the quote, and what was charged so far, in hundredths
    kudos                   bigint NOT NULL DEFAULT 0,
    consumed_kudos          bigint NOT NULL DEFAULT 0,
    extra_priority          bigint NOT NULL DEFAULT 0,
    -- extra_priority - 5 * activation epoch: never updated; see docs/adr
    rank                    double precision NOT NULL DEFAULT 0,
    prompt                  text NOT NULL,
    submitted_prompt        text,
    params                  jsonb NOT NULL,
    gen_payload             jsonb NOT NULL,
    nsfw                    boolean NOT NULL DEFAULT false,
    safe_ip                 boolean NOT NULL DEFAULT true,
    trusted_workers         boolean NOT NULL DEFAULT false,
    validated_backends      boolean NOT NULL DEFAULT false,
    slow_workers            boolean NOT NULL DEFAULT true,
    -- workers named by the request, and whether they are the only ones or the ones to avoid
    workers                 uuid[] NOT NULL DEFAULT '{}',
    worker_blacklist        boolean NOT NULL DEFAULT false,
    models                  text[] NOT NULL DEFAULT '{}',
    -- lowest speed in tokens per second when slow_workers is false
    min_speed               double precision NOT NULL DEFAULT 0,
    max_length              integer NOT NULL,
    max_context_length      integer NOT NULL,
    softprompt              varchar(255),
    webhook                 varchar(1024),
    disable_batching        boolean NOT NULL DEFAULT false,
    client_agent            text,
    ipaddr                  varchar(39),
    proxied_account         varchar(255),
    traceparent             varchar(55),
    messages                jsonb,
    has_images              boolean NOT NULL DEFAULT false,
    image_keys              text[] NOT NULL DEFAULT '{}',
    chat_extras             jsonb,
    chat_required_features  text[] NOT NULL DEFAULT '{}',
    chat_conformance        varchar(16) NOT NULL DEFAULT 'strict',
    chat_tools_temperature  double precision,
    chat_messages_offloaded boolean NOT NULL DEFAULT false,
    context_adjustments     jsonb,
    operation_key           uuid,
    operation_fingerprint   char(64),
    chat_fault_reason       varchar(1000),
    chat_fault_rc           varchar(32),
    terminal_outcome        varchar(16),
    terminal_recorded_at    timestamptz
);
-- The cleanup loop's, the concurrency count's and the queue position's.
CREATE INDEX ix_waiting_prompts_expiry ON dispatch.waiting_prompts (expiry);
CREATE INDEX ix_waiting_prompts_user ON dispatch.waiting_prompts (user_id) WHERE n > 0 AND NOT faulted;
CREATE INDEX ix_waiting_prompts_queue ON dispatch.waiting_prompts (rank DESC, created, id) WHERE active AND NOT faulted AND n > 0;

-- A lane is one combination of what workers are matched on. A waiting request stands in one lane per model.
CREATE TABLE dispatch.lanes (
    id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    is_chat             boolean NOT NULL,
    -- '' when a text request takes any model
    model               varchar(255) NOT NULL,
    required_features   text[] NOT NULL,
    has_images          boolean NOT NULL,
    trusted_workers     boolean NOT NULL,
    validated_backends  boolean NOT NULL,
    min_speed           double precision NOT NULL,
    -- upper bounds of the power-of-two buckets
    length_bucket       integer NOT NULL,
    context_bucket      integer NOT NULL,
    -- true for requests that name the only workers they take: found by worker, not by lane
    targeted            boolean NOT NULL,
    last_used           timestamptz NOT NULL DEFAULT now(),
    UNIQUE (is_chat, model, required_features, has_images, trusted_workers, validated_backends, min_speed, length_bucket, context_bucket, targeted)
);

CREATE TABLE dispatch.wp_models (
    id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    wp_id               uuid NOT NULL REFERENCES dispatch.waiting_prompts ON DELETE CASCADE,
    model               varchar(255) NOT NULL,
    -- No foreign key: removing one lane would search every entry. lane_v1 and the loop that removes idle lanes lock the lane instead.
    lane_id             bigint NOT NULL,
    user_id             integer NOT NULL,
    rank                double precision NOT NULL,
    created             timestamptz NOT NULL,
    max_length          integer NOT NULL,
    max_context_length  integer NOT NULL,
    -- true while the request has jobs to hand out
    waiting             boolean NOT NULL
);
CREATE INDEX ix_wp_models_wp_id ON dispatch.wp_models (wp_id, model);
CREATE INDEX ix_wp_models_lane ON dispatch.wp_models (lane_id, rank DESC, created, wp_id) INCLUDE (max_length, max_context_length) WHERE waiting;
CREATE INDEX ix_wp_models_length ON dispatch.wp_models (lane_id, max_length, max_context_length) WHERE waiting;
CREATE INDEX ix_wp_models_user ON dispatch.wp_models (user_id, rank DESC, created, wp_id) WHERE waiting;
CREATE INDEX ix_wp_models_model ON dispatch.wp_models (model) WHERE waiting;

CREATE TABLE dispatch.wp_allowed_workers (
    wp_id       uuid NOT NULL REFERENCES dispatch.waiting_prompts ON DELETE CASCADE,
    worker_id   uuid NOT NULL,
    PRIMARY KEY (worker_id, wp_id)
);
CREATE INDEX ix_wp_allowed_workers_wp ON dispatch.wp_allowed_workers (wp_id);

-- Paused workers that already got a fake job of the request.
CREATE TABLE dispatch.wp_tricked_workers (
    wp_id       uuid NOT NULL REFERENCES dispatch.waiting_prompts ON DELETE CASCADE,
    worker_id   uuid NOT NULL,
    PRIMARY KEY (wp_id, worker_id)
);

CREATE TABLE dispatch.processing_gens (
    id                          uuid PRIMARY KEY,
    procgen_type                varchar(30) NOT NULL DEFAULT 'text',
    wp_id                       uuid NOT NULL REFERENCES dispatch.waiting_prompts ON DELETE CASCADE,
    worker_id                   uuid NOT NULL REFERENCES dispatch.workers,
    model                       varchar(255) NOT NULL,
    created                     timestamptz NOT NULL,
    start_time                  timestamptz NOT NULL,
    -- seconds from start_time; renewed by progress up to lease_cap
    job_ttl                     integer NOT NULL,
    lease_cap                   integer NOT NULL,
    lease_until                 timestamptz NOT NULL,
    worker_trusted              boolean NOT NULL,
    -- true when the worker was told to post its progress
    streamed                    boolean NOT NULL DEFAULT false,
    over_capacity_at_assignment boolean NOT NULL DEFAULT false,
    generation                  text,
    message                     jsonb,
    gen_metadata                jsonb,
    seed                        bigint,
    cancelled                   boolean NOT NULL DEFAULT false,
    faulted                     boolean NOT NULL DEFAULT false,
    fake                        boolean NOT NULL DEFAULT false,
    censored                    boolean NOT NULL DEFAULT false,
    ended_at                    timestamptz,
    finish_reason               varchar(32),
    native_finish_reason        varchar(32),
    prompt_tokens               integer,
    completion_tokens           integer,
    reasoning_tokens            integer,
    charge_basis                varchar(16),
    -- charged for it, in hundredths
    kudos                       bigint,
    assigned_model              varchar(255),
    assigned_max_context_length integer,
    assigned_max_length         integer,
    image_transport             varchar(16),
    chat_refusal_rc             varchar(32),
    settled_character_count     integer
);
CREATE INDEX ix_processing_gens_wp_id ON dispatch.processing_gens (wp_id);
CREATE INDEX ix_processing_gens_worker_id ON dispatch.processing_gens (worker_id);
CREATE INDEX ix_processing_gens_lease ON dispatch.processing_gens (lease_until) WHERE generation IS NULL AND NOT faulted;

-- Objects whose row is gone: deleted by a loop, through media.
CREATE TABLE dispatch.object_deletions (
    object_key  text PRIMARY KEY,
    created     timestamptz NOT NULL DEFAULT now()
);

-- dispatch: statistics ---------------------------------------------------------------------------------------------

CREATE TABLE dispatch.model_performances (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    model       varchar(255) NOT NULL,
    performance double precision NOT NULL,
    created     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ix_model_performances_model ON dispatch.model_performances (model, created);
CREATE INDEX ix_model_performances_created ON dispatch.model_performances (created);

CREATE TABLE dispatch.horde_fulfillments (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    things      integer NOT NULL,
    created     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ix_horde_fulfillments_created ON dispatch.horde_fulfillments (created);

CREATE TABLE dispatch.text_gen_stats (
    id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    started             timestamptz NOT NULL,
    finished            timestamptz NOT NULL,
    model               varchar(255) NOT NULL,
    max_length          integer NOT NULL,
    max_context_length  integer NOT NULL,
    prompt_length       integer NOT NULL,
    client_agent        text,
    bridge_agent        text,
    state               varchar(12) NOT NULL
);
CREATE INDEX ix_text_gen_stats_finished ON dispatch.text_gen_stats (finished);
