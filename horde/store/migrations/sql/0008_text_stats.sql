-- What was made by period, folded from text_gen_stats once a minute: the public sums cost the same however much was ever made.

-- Endings before `through` are in the sums; one row.
CREATE TABLE dispatch.text_stats_compiled (
    only_row    boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    through     timestamptz NOT NULL
);
INSERT INTO dispatch.text_stats_compiled (through) VALUES ('epoch');

-- Kept for 31 days.
CREATE TABLE dispatch.compiled_text_gen_stats_totals (
    minute      timestamptz PRIMARY KEY,
    requests    bigint NOT NULL,
    tokens      bigint NOT NULL
);
CREATE TABLE dispatch.compiled_text_gen_stats_models (
    hour        timestamptz NOT NULL,
    model       varchar(255) NOT NULL,
    requests    bigint NOT NULL,
    PRIMARY KEY (hour, model)
);

-- Since the horde began.
CREATE TABLE dispatch.compiled_text_gen_stats_ever (
    model       varchar(255) PRIMARY KEY,
    requests    bigint NOT NULL,
    tokens      bigint NOT NULL
);

GRANT SELECT, INSERT, UPDATE, DELETE ON dispatch.text_stats_compiled, dispatch.compiled_text_gen_stats_totals,
    dispatch.compiled_text_gen_stats_models, dispatch.compiled_text_gen_stats_ever TO horde_dispatch;
REVOKE EXECUTE ON FUNCTION dispatch.compile_text_stats_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION dispatch.compile_text_stats_v1 TO horde_dispatch;
