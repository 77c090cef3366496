-- dispatch.find_candidates_v3: the best waiting requests that fit one worker, for a pop; its cost does not grow with the queue (docs/adr/0005).
-- As v2; a request that tricked this worker with a fake job never comes back to it (base-domain 4.7); and p_trusted null: not trusted, and what
-- trust would give it is passed over as 'untrusted'. Entries come from the lanes the worker fits (ix_wp_models_lane), from requests that name it
-- (ix_wp_allowed_workers_rank) and from its priority users (ix_wp_models_user_lane), p_depth of each; the best are checked exactly. In a lane that
-- the worker's limits cut through: 10 times as many by rank, then those that fit by length (ix_wp_models_length). Always gives a row; `single`:
-- it wants one result; `skip`: why it is passed over. p_text_models has '' beside the models; empty: no text jobs. p_chat_model null: no chat jobs.
-- p_owner_only: in maintenance. Planned once, perhaps on an empty queue: what no index may be chosen by is asked in one piece, the tricked by value.
CREATE FUNCTION dispatch.find_candidates_v3(
    p_worker uuid, p_users integer[], p_owner_only boolean, p_chat_model text, p_features text[], p_images boolean, p_chat_length integer,
    p_chat_context integer, p_heat double precision, p_text_models text[], p_text_length integer, p_text_context integer,
    p_softprompts text[], p_trusted boolean, p_validated boolean, p_speed double precision, p_paused boolean, p_now timestamptz,
    p_depth integer
) RETURNS TABLE (exhausted boolean, id uuid, user_id integer, is_chat boolean, models text[], single boolean, skip text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY WITH fitting AS MATERIALIZED (
        SELECT l.id, l.model, l.length, l.context, l.length_bucket <= l.length AND l.context_bucket <= l.context AS whole
        FROM (
            SELECT c.*, p_chat_length AS length, p_chat_context AS context FROM dispatch.lanes c
            WHERE c.is_chat AND c.model = p_chat_model AND c.required_features <@ p_features AND (NOT c.has_images OR p_images)
            UNION ALL
            SELECT t.*, p_text_length, p_text_context FROM dispatch.lanes t WHERE NOT t.is_chat AND t.model = ANY (p_text_models)) l
        WHERE NOT l.targeted AND (NOT l.trusted_workers OR p_trusted IS NOT FALSE) AND (NOT l.validated_backends OR p_validated)
          -- a bucket begins one above half its upper bound
          AND l.min_speed <= p_speed AND l.length_bucket / 2 < l.length AND l.context_bucket / 2 < l.context
    ), entries AS (
        SELECT e.* FROM fitting f CROSS JOIN LATERAL (
            SELECT m.wp_id, m.rank, m.created FROM dispatch.wp_models m
            WHERE m.lane_id = f.id AND m.waiting ORDER BY m.rank DESC, m.created, m.wp_id LIMIT p_depth) e
        WHERE f.whole AND NOT p_owner_only
        UNION ALL
        SELECT e.* FROM fitting f CROSS JOIN LATERAL (
            (SELECT b.wp_id, b.rank, b.created FROM (
                SELECT m.wp_id, m.rank, m.created, m.max_length, m.max_context_length FROM dispatch.wp_models m
                WHERE m.lane_id = f.id AND m.waiting ORDER BY m.rank DESC, m.created, m.wp_id LIMIT 10 * p_depth) b
             WHERE b.max_length <= f.length AND b.max_context_length <= f.context LIMIT p_depth)
            UNION ALL
            (SELECT m.wp_id, m.rank, m.created FROM dispatch.wp_models m
             WHERE m.lane_id = f.id AND m.waiting AND m.max_length <= f.length AND m.max_context_length <= f.context
             ORDER BY m.max_length, m.max_context_length LIMIT p_depth)) e
        WHERE NOT f.whole AND NOT p_owner_only
    ), named AS (
        SELECT a.wp_id FROM dispatch.wp_allowed_workers a
        WHERE a.worker_id = p_worker AND a.waiting ORDER BY a.rank DESC, a.created, a.wp_id LIMIT p_depth
    ), prioritised AS (
        SELECT e.wp_id FROM unnest(p_users) AS u (id)
        -- one look tells of most users that none of theirs waits; in order, so that it is the index that is looked into
        CROSS JOIN LATERAL (
            SELECT FROM dispatch.wp_models m WHERE m.user_id = u.id AND m.waiting ORDER BY m.model, m.lane_id LIMIT 1) waits
        CROSS JOIN fitting f CROSS JOIN LATERAL (
            SELECT m.wp_id, m.rank, m.created, m.max_length, m.max_context_length FROM dispatch.wp_models m
            WHERE m.user_id = u.id AND m.model = f.model AND m.lane_id = f.id AND m.waiting
            ORDER BY m.rank DESC, m.created, m.wp_id LIMIT p_depth) e
        WHERE (f.whole OR (e.max_length <= f.length AND e.max_context_length <= f.context))
        ORDER BY e.rank DESC, e.created, e.wp_id LIMIT p_depth
    ), looked_at AS MATERIALIZED (
        (SELECT wp_id FROM entries ORDER BY rank DESC, created, wp_id LIMIT p_depth)
        UNION ALL SELECT wp_id FROM named UNION ALL SELECT wp_id FROM prioritised
    ), fits AS (
        SELECT r.id, r.user_id, r.is_chat, r.models, r.jobs = 1 AS single, r.user_id = ANY (p_users) AS is_prioritised, r.rank, r.created,
               CASE WHEN r.trusted_workers AND p_trusted IS NULL THEN 'untrusted'
                    WHEN NOT r.is_chat AND coalesce(r.softprompt, '') <> '' AND r.softprompt <> ALL (p_softprompts)
                    THEN 'matching_softprompt' END AS skip
        FROM (SELECT DISTINCT wp_id FROM looked_at) seen JOIN dispatch.waiting_prompts r ON r.id = seen.wp_id
        WHERE CASE WHEN r.active AND NOT r.faulted AND NOT r.cancelled AND r.n > 0 THEN r.expiry > p_now END
          AND (r.workers = '{}' OR (p_worker = ANY (r.workers)) <> r.worker_blacklist)
          AND (NOT p_owner_only OR r.user_id = ANY (p_users))
          AND (NOT r.trusted_workers OR p_trusted IS NOT FALSE) AND (NOT r.validated_backends OR p_validated) AND r.min_speed <= p_speed
          AND CASE WHEN r.is_chat THEN
                  p_chat_model = ANY (r.models) AND r.chat_required_features <@ p_features AND (NOT r.has_images OR p_images)
                  AND r.max_length <= p_chat_length AND r.max_context_length <= p_chat_context AND (r.chat_tools_temperature > p_heat) IS NOT TRUE
              ELSE p_text_models <> '{}' AND (r.models = '{}' OR r.models && p_text_models) AND r.max_length <= p_text_length
                  AND r.max_context_length <= p_text_context END
          AND (SELECT true FROM dispatch.wp_tricked_workers t WHERE t.wp_id = r.id AND t.worker_id = p_worker) IS NULL
    )
    SELECT depth.exhausted, fits.id, fits.user_id, fits.is_chat, fits.models, fits.single, fits.skip
    FROM (SELECT count(*) < p_depth AS exhausted FROM looked_at) depth LEFT JOIN fits ON true
    ORDER BY fits.is_prioritised DESC, fits.rank DESC, fits.created, fits.id;
END $$;
