-- find_candidates: the best waiting requests that fit one worker. Its cost does not grow with the queue: see docs/adr on lanes.
-- Entries come from the lanes the worker fits (index ix_wp_models_lane), from requests that name it (wp_allowed_workers) and from
-- its priority users (ix_wp_models_user); the best are checked exactly against their rows. A lane whose length buckets the worker's
-- limits cut through is looked at to a bounded depth, by rank and by length (ix_wp_models_length). Always gives a row.
-- $1 worker uuid
-- $2 priority_users integer[] the owner first
-- $3 owner_only boolean
-- $4 chat_model text null: no chat jobs
-- $5 features text[]
-- $6 takes_images boolean
-- $7 chat_length integer
-- $8 chat_context integer
-- $9 tools_max_temperature float8
-- $10 text_models text[] with '' beside them; empty: no text jobs
-- $11 text_length integer
-- $12 text_context integer
-- $13 softprompts text[]
-- $14 trusted boolean
-- $15 validated boolean
-- $16 speed float8
-- $17 paused boolean
-- $18 now timestamptz
-- $19 depth integer entries to look at in each source
WITH fitting AS MATERIALIZED (
    SELECT l.id, limits.length, limits.context, l.length_bucket <= limits.length AND l.context_bucket <= limits.context AS whole
    FROM dispatch.lanes l
    CROSS JOIN LATERAL (SELECT CASE WHEN l.is_chat THEN $7::integer ELSE $11::integer END AS length,
                               CASE WHEN l.is_chat THEN $8::integer ELSE $12::integer END AS context) limits
    WHERE NOT $3::boolean AND NOT l.targeted
      AND ((l.is_chat AND l.model = $4 AND l.required_features <@ $5 AND (NOT l.has_images OR $6))
           OR (NOT l.is_chat AND l.model = ANY ($10)))
      AND (NOT l.trusted_workers OR $14) AND (NOT l.validated_backends OR $15) AND l.min_speed <= $16
      -- a bucket begins one above half its upper bound
      AND l.length_bucket / 2 < limits.length AND l.context_bucket / 2 < limits.context
), entries AS (
    SELECT e.* FROM fitting f CROSS JOIN LATERAL (
        SELECT m.wp_id, m.rank, m.created FROM dispatch.wp_models m
        WHERE m.lane_id = f.id AND m.waiting ORDER BY m.rank DESC, m.created, m.wp_id LIMIT $19::integer) e
    WHERE f.whole
    UNION ALL
    SELECT e.* FROM fitting f CROSS JOIN LATERAL (
        (SELECT b.wp_id, b.rank, b.created FROM (
            SELECT m.wp_id, m.rank, m.created, m.max_length, m.max_context_length FROM dispatch.wp_models m
            WHERE m.lane_id = f.id AND m.waiting ORDER BY m.rank DESC, m.created, m.wp_id LIMIT 10 * $19::integer) b
         WHERE b.max_length <= f.length AND b.max_context_length <= f.context LIMIT $19)
        UNION ALL
        (SELECT b.wp_id, b.rank, b.created FROM (
            SELECT m.wp_id, m.rank, m.created, m.max_context_length FROM dispatch.wp_models m
            WHERE m.lane_id = f.id AND m.waiting AND m.max_length <= f.length
            ORDER BY m.max_length, m.max_context_length LIMIT 10 * $19::integer) b
         WHERE b.max_context_length <= f.context LIMIT $19)) e
    WHERE NOT f.whole
), named AS (
    SELECT m.wp_id FROM dispatch.wp_allowed_workers a JOIN dispatch.wp_models m ON m.wp_id = a.wp_id AND m.waiting
    WHERE a.worker_id = $1 AND NOT $3 ORDER BY m.rank DESC, m.created, m.wp_id LIMIT $19
), prioritised AS (
    SELECT e.wp_id FROM unnest($2::integer[]) AS u (id) CROSS JOIN LATERAL (
        SELECT m.wp_id FROM dispatch.wp_models m
        WHERE m.user_id = u.id AND m.waiting ORDER BY m.rank DESC, m.created, m.wp_id LIMIT $19::integer) e
), looked_at AS MATERIALIZED (
    (SELECT wp_id FROM entries ORDER BY rank DESC, created, wp_id LIMIT $19)
    UNION ALL SELECT wp_id FROM named UNION ALL SELECT wp_id FROM prioritised
), fits AS (
    SELECT r.id, r.user_id, r.is_chat, r.models, r.user_id = ANY ($2) AS is_prioritised, r.rank, r.created,
           CASE WHEN NOT r.is_chat AND coalesce(r.softprompt, '') <> '' AND r.softprompt <> ALL ($13)
                THEN 'matching_softprompt' END AS skip
    FROM (SELECT DISTINCT wp_id FROM looked_at) seen JOIN dispatch.waiting_prompts r ON r.id = seen.wp_id
    WHERE r.active AND NOT r.faulted AND NOT r.cancelled AND r.n > 0 AND r.expiry > $18
      AND (r.workers = '{}' OR ($1 = ANY (r.workers)) <> r.worker_blacklist)
      AND (NOT r.trusted_workers OR $14) AND (NOT r.validated_backends OR $15) AND r.min_speed <= $16
      AND CASE WHEN r.is_chat THEN
              $4 = ANY (r.models) AND r.chat_required_features <@ $5 AND (NOT r.has_images OR $6) AND r.max_length <= $7
              AND r.max_context_length <= $8 AND (r.chat_tools_temperature > $9) IS NOT TRUE
          ELSE $10 <> '{}' AND (r.models = '{}' OR r.models && $10) AND r.max_length <= $11 AND r.max_context_length <= $12 END
      AND (NOT $17 OR NOT EXISTS (SELECT FROM dispatch.wp_tricked_workers t WHERE t.wp_id = r.id AND t.worker_id = $1))
)
SELECT depth.exhausted, fits.id, fits.user_id, fits.is_chat, fits.models, fits.skip
FROM (SELECT count(*) < $19 AS exhausted FROM looked_at) depth
LEFT JOIN fits ON true
ORDER BY fits.is_prioritised DESC, fits.rank DESC, fits.created, fits.id
