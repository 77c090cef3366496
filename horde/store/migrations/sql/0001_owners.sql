-- One schema and one role per owner. Tables follow in 0001_admission.sql, 0001_dispatch.sql and 0001_moderation.sql.
-- A role reads and writes its own schema; another owner's only through the functions and views granted in 0001_grants.sql.

DO $$
DECLARE
    owner_role text;
BEGIN
    FOREACH owner_role IN ARRAY ARRAY['horde_admission', 'horde_dispatch', 'horde_moderation'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = owner_role) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', owner_role);
        END IF;
    END LOOP;
END $$;

-- Planning a pop's queue read for its very arguments takes five times as long as running it, and gives the same plan.
ALTER ROLE horde_dispatch SET plan_cache_mode = force_generic_plan;

CREATE SCHEMA admission;
CREATE SCHEMA dispatch;
CREATE SCHEMA moderation;
