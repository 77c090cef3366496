-- What workers are told by people, and what moderation has still to be told of workers.

-- A message for one worker, or for all of them.
CREATE TABLE dispatch.worker_messages (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    -- null: every worker
    worker_id   uuid REFERENCES dispatch.workers ON DELETE CASCADE,
    -- who wrote it
    user_id     integer NOT NULL,
    message     varchar(10240) NOT NULL,
    origin      varchar(255) NOT NULL,
    created     timestamptz NOT NULL,
    expiry      timestamptz NOT NULL
);
CREATE INDEX ix_worker_messages_worker_id ON dispatch.worker_messages (worker_id, expiry);
CREATE INDEX ix_worker_messages_expiry ON dispatch.worker_messages (expiry);
CREATE INDEX ix_worker_messages_created ON dispatch.worker_messages (created DESC, id);

-- Reports for moderation, written in the commit that makes them true and removed once moderation has them. `id` is how it knows a repeat.
CREATE TABLE dispatch.worker_reports (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    kind        varchar(20) NOT NULL CHECK (kind IN ('suspicion', 'csam')),
    report      jsonb NOT NULL,
    created     timestamptz NOT NULL
);
CREATE INDEX ix_worker_reports_created ON dispatch.worker_reports (created);

GRANT SELECT, INSERT, UPDATE, DELETE ON dispatch.worker_messages, dispatch.worker_reports TO horde_dispatch;
