-- Statistics of generations, a partition for each month: what retention ended is dropped, not deleted. docs/adr/0021.
-- The table as it was becomes the first partition, under the bound that 0007_stats_bound.sql gave it.

-- The id was nobody's key: nothing refers to it. Who inserts by name goes on doing so.
-- squawk-ignore renaming-table
ALTER TABLE dispatch.text_gen_stats RENAME TO text_gen_stats_before;
-- squawk-ignore renaming-object
ALTER INDEX dispatch.ix_text_gen_stats_finished RENAME TO ix_text_gen_stats_before_finished;
-- squawk-ignore ban-alter-identity
ALTER TABLE dispatch.text_gen_stats_before ALTER COLUMN id DROP IDENTITY;

CREATE TABLE dispatch.text_gen_stats (
    id                  bigint GENERATED ALWAYS AS IDENTITY,
    started             timestamptz NOT NULL,
    finished            timestamptz NOT NULL,
    model               varchar(255) NOT NULL,
    max_length          integer NOT NULL,
    max_context_length  integer NOT NULL,
    prompt_length       integer NOT NULL,
    client_agent        text,
    bridge_agent        text,
    state               varchar(12) NOT NULL
) PARTITION BY RANGE (finished);
CREATE INDEX ix_text_gen_stats_finished ON dispatch.text_gen_stats (finished);
-- Where rows go whose month nobody made in time: a reply is never refused for its statistics.
CREATE TABLE dispatch.text_gen_stats_rest PARTITION OF dispatch.text_gen_stats DEFAULT;

DO $$
DECLARE
    v_end text := (SELECT (regexp_match(pg_get_constraintdef(oid), '''([^'']+)'''))[1] FROM pg_constraint
                   WHERE conname = 'ck_text_gen_stats_before' AND conrelid = 'dispatch.text_gen_stats_before'::regclass);
BEGIN
    EXECUTE format('ALTER TABLE dispatch.text_gen_stats ATTACH PARTITION dispatch.text_gen_stats_before FOR VALUES FROM (MINVALUE) TO (%L)', v_end);
    PERFORM setval(pg_get_serial_sequence('dispatch.text_gen_stats', 'id'),
                   (SELECT coalesce(max(id), 0) + 1 FROM dispatch.text_gen_stats_before), false);
END $$;
-- squawk-ignore ban-drop-constraint
ALTER TABLE dispatch.text_gen_stats_before DROP CONSTRAINT ck_text_gen_stats_before;

GRANT SELECT, INSERT, UPDATE, DELETE ON dispatch.text_gen_stats TO horde_dispatch;
REVOKE EXECUTE ON FUNCTION dispatch.keep_stats_months_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION dispatch.keep_stats_months_v1 TO horde_dispatch;
