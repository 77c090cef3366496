-- dispatch.keep_stats_months_v1: make the partitions of this month and the next, and drop those that ended before p_keep_from.
-- Called by dispatch's loop, as the tables' owner. Gives the names of the dropped. What is not folded into the sums yet stays
-- (dispatch.text_stats_compiled). Safe in several replicas: the second waits for the first and finds nothing to do.
-- A lock that is not to be had within two seconds ends the call and changes nothing: the next call tries again.
CREATE FUNCTION dispatch.keep_stats_months_v1(p_now timestamptz, p_keep_from timestamptz) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog SET lock_timeout = '2s' SET timezone = 'UTC' AS $$
DECLARE
    v_month timestamptz;
    v_name text;
    v_old record;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('dispatch.text_gen_stats', 0));
    FOR v_month IN SELECT generate_series(date_trunc('month', p_now), date_trunc('month', p_now) + interval '1 month', '1 month') LOOP
        v_name := to_char(v_month, '"text_gen_stats_"YYYY_MM');
        CONTINUE WHEN EXISTS (
            SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid,
                 LATERAL regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([^'']+)''\)') AS ends
            WHERE i.inhparent = 'dispatch.text_gen_stats'::regclass AND ends[1]::timestamptz >= v_month + interval '1 month');
        -- Made apart and then attached: readers and writers of the other months never wait for it.
        EXECUTE format('CREATE TABLE dispatch.%I (LIKE dispatch.text_gen_stats INCLUDING DEFAULTS)', v_name);
        EXECUTE format('WITH late AS (DELETE FROM dispatch.text_gen_stats_rest WHERE finished >= %L AND finished < %L RETURNING *)
                        INSERT INTO dispatch.%I SELECT * FROM late', v_month, v_month + interval '1 month', v_name);
        EXECUTE format('ALTER TABLE dispatch.text_gen_stats ATTACH PARTITION dispatch.%I FOR VALUES FROM (%L) TO (%L)',
                       v_name, v_month, v_month + interval '1 month');
    END LOOP;
    DELETE FROM dispatch.text_gen_stats_rest WHERE finished < p_keep_from;
    FOR v_old IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid,
             LATERAL regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([^'']+)''\)') AS ends
        WHERE i.inhparent = 'dispatch.text_gen_stats'::regclass
          AND ends[1]::timestamptz <= least(p_keep_from, (SELECT through FROM dispatch.text_stats_compiled))
    LOOP
        EXECUTE format('DROP TABLE dispatch.%I', v_old.relname);
        RETURN NEXT v_old.relname;
    END LOOP;
END $$;
