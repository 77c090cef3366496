-- dispatch.compile_text_stats_v1: fold the replies that ended before p_through into the sums by period. Called by dispatch's loop.
-- The row of text_stats_compiled is locked first, so that two replicas fold each ending once. A token counts as asked for (max_length).
CREATE FUNCTION dispatch.compile_text_stats_v1(p_through timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    v_from timestamptz;
BEGIN
    SELECT through INTO STRICT v_from FROM dispatch.text_stats_compiled FOR UPDATE;
    IF v_from >= p_through THEN
        RETURN;
    END IF;
    WITH ended AS MATERIALIZED (
        SELECT finished, model, max_length FROM dispatch.text_gen_stats
        WHERE finished >= v_from AND finished < p_through AND state = 'OK'
    ), totals AS (
        INSERT INTO dispatch.compiled_text_gen_stats_totals AS t (minute, requests, tokens)
        SELECT date_trunc('minute', finished), count(*), sum(max_length) FROM ended GROUP BY 1
        ON CONFLICT (minute) DO UPDATE SET requests = t.requests + excluded.requests, tokens = t.tokens + excluded.tokens
    ), models AS (
        INSERT INTO dispatch.compiled_text_gen_stats_models AS m (hour, model, requests)
        SELECT date_trunc('hour', finished, 'UTC'), model, count(*) FROM ended GROUP BY 1, 2
        ON CONFLICT (hour, model) DO UPDATE SET requests = m.requests + excluded.requests
    )
    INSERT INTO dispatch.compiled_text_gen_stats_ever AS e (model, requests, tokens)
    SELECT model, count(*), sum(max_length) FROM ended GROUP BY model
    ON CONFLICT (model) DO UPDATE SET requests = e.requests + excluded.requests, tokens = e.tokens + excluded.tokens;
    UPDATE dispatch.text_stats_compiled SET through = p_through;
    DELETE FROM dispatch.compiled_text_gen_stats_totals WHERE minute < p_through - interval '31 days';
    DELETE FROM dispatch.compiled_text_gen_stats_models WHERE hour < p_through - interval '31 days';
END $$;
