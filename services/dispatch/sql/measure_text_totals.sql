-- measure_text_totals: replies and their tokens by period; what is not folded yet is counted as it stands.
-- reads only
-- $1 now timestamptz
WITH fresh AS MATERIALIZED (
    SELECT s.finished, s.max_length FROM dispatch.text_gen_stats s
    WHERE s.finished >= (SELECT through FROM dispatch.text_stats_compiled) AND s.state = 'OK'
), parts AS (
    SELECT minute AS at, requests, tokens FROM dispatch.compiled_text_gen_stats_totals WHERE minute > $1::timestamptz - interval '30 days'
    UNION ALL
    SELECT finished, 1, max_length FROM fresh
)
SELECT 'minute' AS period, count(*) AS requests, coalesce(sum(s.max_length), 0)::bigint AS tokens
FROM dispatch.text_gen_stats s WHERE s.finished > $1::timestamptz - interval '1 minute' AND s.state = 'OK'
UNION ALL
SELECT p.name, coalesce(sum(parts.requests), 0)::bigint, coalesce(sum(parts.tokens), 0)::bigint
FROM (VALUES ('hour', interval '1 hour'), ('day', interval '1 day'), ('month', interval '30 days')) AS p (name, length)
LEFT JOIN parts ON parts.at > $1::timestamptz - p.length GROUP BY p.name
UNION ALL
SELECT 'total', (SELECT coalesce(sum(requests), 0) FROM dispatch.compiled_text_gen_stats_ever)::bigint + (SELECT count(*) FROM fresh),
       (SELECT coalesce(sum(tokens), 0) FROM dispatch.compiled_text_gen_stats_ever)::bigint
       + (SELECT coalesce(sum(max_length), 0) FROM fresh);
