-- measure_text_models: replies of each model in the last day, the last 30 days, and since the horde began.
-- reads only
-- $1 now timestamptz
WITH parts AS (
    SELECT model, hour AS at, requests, 0 AS ever FROM dispatch.compiled_text_gen_stats_models
    WHERE hour > $1::timestamptz - interval '30 days'
    UNION ALL
    SELECT model, '-infinity', 0, requests FROM dispatch.compiled_text_gen_stats_ever
    UNION ALL
    SELECT s.model, s.finished, 1, 1 FROM dispatch.text_gen_stats s
    WHERE s.finished >= (SELECT through FROM dispatch.text_stats_compiled) AND s.state = 'OK'
)
SELECT model, coalesce(sum(requests) FILTER (WHERE at > $1::timestamptz - interval '1 day'), 0)::bigint AS day,
       coalesce(sum(requests) FILTER (WHERE at > $1::timestamptz - interval '30 days'), 0)::bigint AS month,
       coalesce(sum(ever), 0)::bigint AS total
FROM parts GROUP BY model ORDER BY model;
