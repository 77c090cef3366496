-- The queue, however long: entries of one account by lane, requests that name a worker by rank, so that no pop reads what it cannot use.

-- Priority users' requests that fit, and how many of one account wait for a model.
CREATE INDEX ix_wp_models_user_lane ON dispatch.wp_models (user_id, model, lane_id, rank DESC, created, wp_id) WHERE waiting;
-- Every reader of it is served by the one above.
DROP INDEX dispatch.ix_wp_models_user;

-- Kept by the triggers below, whoever writes.
ALTER TABLE dispatch.wp_allowed_workers
    ADD COLUMN rank double precision,
    ADD COLUMN created timestamptz,
    ADD COLUMN waiting boolean NOT NULL DEFAULT false;
CREATE INDEX ix_wp_allowed_workers_rank ON dispatch.wp_allowed_workers (worker_id, rank DESC, created, wp_id) WHERE waiting;

CREATE FUNCTION dispatch.rank_named_v1() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    UPDATE dispatch.wp_allowed_workers a
    SET rank = NEW.rank, created = NEW.created, waiting = NEW.active AND NOT NEW.faulted AND NOT NEW.cancelled AND NEW.n > 0
    WHERE a.wp_id = NEW.id;
    RETURN NULL;
END $$;

CREATE FUNCTION dispatch.rank_new_named_v1() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    SELECT r.rank, r.created, r.active AND NOT r.faulted AND NOT r.cancelled AND r.n > 0 INTO NEW.rank, NEW.created, NEW.waiting
    FROM dispatch.waiting_prompts r WHERE r.id = NEW.wp_id;
    NEW.waiting := coalesce(NEW.waiting, false);
    RETURN NEW;
END $$;

CREATE TRIGGER rank_new_named BEFORE INSERT ON dispatch.wp_allowed_workers FOR EACH ROW EXECUTE FUNCTION dispatch.rank_new_named_v1();
-- Locks out writers until this revision is committed, so that nothing is missed between the trigger and the rows below.
CREATE TRIGGER rank_named AFTER UPDATE OF n, active, faulted, cancelled ON dispatch.waiting_prompts FOR EACH ROW
WHEN (cardinality(NEW.workers) > 0 AND NOT NEW.worker_blacklist
      AND (OLD.active AND NOT OLD.faulted AND NOT OLD.cancelled AND OLD.n > 0)
          <> (NEW.active AND NOT NEW.faulted AND NOT NEW.cancelled AND NEW.n > 0))
EXECUTE FUNCTION dispatch.rank_named_v1();

UPDATE dispatch.wp_allowed_workers a
SET rank = r.rank, created = r.created, waiting = r.active AND NOT r.faulted AND NOT r.cancelled AND r.n > 0
FROM dispatch.waiting_prompts r WHERE r.id = a.wp_id;
