-- Accounts as their holders, moderators and operators manage them: lists, transfers, usage. Only adds.

CREATE INDEX ix_users_kudos_id ON admission.users (kudos DESC, id);
CREATE INDEX ix_users_created_id ON admission.users (created, id);
-- The promotion queues walk it from the threshold upward, so their cost follows the accounts above it.
CREATE INDEX ix_users_evaluating_kudos_rank ON admission.users (evaluating_kudos DESC, id) WHERE evaluating_kudos > 0;
-- Paused workers are few among many.
CREATE INDEX ix_workers_paused ON dispatch.workers (last_check_in DESC, id) WHERE paused;
CREATE INDEX ix_waiting_prompts_sharedkey ON dispatch.waiting_prompts (sharedkey_id) WHERE sharedkey_id IS NOT NULL;

-- Who gave whom how much. A retry key makes a repeat of a transfer the same transfer.
CREATE TABLE admission.kudos_transfers (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id   integer NOT NULL REFERENCES admission.users ON DELETE RESTRICT,
    dest_id     integer NOT NULL REFERENCES admission.users ON DELETE RESTRICT,
    kudos       bigint NOT NULL CHECK (kudos > 0),
    created     timestamptz NOT NULL DEFAULT now(),
    -- what the target was called, so that a repeat can be compared
    target      varchar(255) NOT NULL,
    retry_key   varchar(255),
    UNIQUE (source_id, retry_key)
);
CREATE INDEX ix_kudos_transfers_pair ON admission.kudos_transfers (source_id, dest_id, created);

-- What an account's requests cost, by day (UTC), model and key: the ledger's charges, added up as they are posted.
CREATE TABLE admission.usage_days (
    user_id     integer NOT NULL REFERENCES admission.users ON DELETE CASCADE,
    day         date NOT NULL,
    -- '' for a request that names no model and was answered by none
    model       varchar(255) NOT NULL,
    -- no reference: a deleted key's usage stays the account's
    sharedkey_id uuid,
    requests    bigint NOT NULL DEFAULT 0,
    generations bigint NOT NULL DEFAULT 0,
    tokens      bigint NOT NULL DEFAULT 0,
    kudos       bigint NOT NULL DEFAULT 0,
    UNIQUE NULLS NOT DISTINCT (user_id, day, model, sharedkey_id)
);

CREATE FUNCTION admission.count_usage() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    f record;
BEGIN
    SELECT * INTO f FROM dispatch.charged_facts_v1(NEW.request_id, NEW.generation_id);
    INSERT INTO admission.usage_days AS u (user_id, day, model, sharedkey_id, requests, generations, tokens, kudos)
    VALUES (NEW.user_id, (NEW.created AT TIME ZONE 'UTC')::date, coalesce(f.model, ''), f.sharedkey_id,
            CASE WHEN NEW.generation_id IS NULL THEN 1 ELSE 0 END, CASE WHEN NEW.generation_id IS NULL THEN 0 ELSE 1 END,
            CASE WHEN NEW.generation_id IS NULL THEN 0 ELSE coalesce(f.tokens, 0) END, -NEW.amount)
    ON CONFLICT (user_id, day, model, sharedkey_id) DO UPDATE
    SET requests = u.requests + excluded.requests, generations = u.generations + excluded.generations,
        tokens = u.tokens + excluded.tokens, kudos = u.kudos + excluded.kudos;
    RETURN NULL;
END $$;

-- At the commit: a request's tax is posted before its row is written.
CREATE CONSTRAINT TRIGGER count_usage AFTER INSERT ON admission.kudos_ledger DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
WHEN (NEW.account = 'user' AND NEW.amount < 0 AND NEW.request_id IS NOT NULL AND NEW.entry_type IN ('GENERATION', 'ACTIVATION_TAX'))
EXECUTE FUNCTION admission.count_usage();
