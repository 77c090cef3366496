-- dispatch.nothing_fits_v1: whether no waiting request can fit a worker: none names it, and none stands in a lane that it fits. Called by
-- dispatch for the pops of idle workers, which mostly find nothing: half the cost of looking for the best request. False does not mean that
-- one fits by everything. The lanes are those of dispatch.find_candidates, whatever the worker's priority users.
CREATE FUNCTION dispatch.nothing_fits_v1(
    p_worker uuid, p_chat_model text, p_features text[], p_images boolean, p_chat_length integer, p_chat_context integer,
    p_text_models text[], p_text_length integer, p_text_context integer, p_trusted boolean, p_validated boolean, p_speed double precision
) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
    RETURN NOT EXISTS (SELECT FROM dispatch.wp_allowed_workers a WHERE a.worker_id = p_worker AND a.waiting)
       AND NOT EXISTS (
        SELECT FROM (
            SELECT c.*, p_chat_length AS length, p_chat_context AS context FROM dispatch.lanes c
            WHERE c.is_chat AND c.model = p_chat_model AND c.required_features <@ p_features AND (NOT c.has_images OR p_images)
            UNION ALL
            SELECT t.*, p_text_length, p_text_context FROM dispatch.lanes t WHERE NOT t.is_chat AND t.model = ANY (p_text_models)) l
        WHERE NOT l.targeted AND (NOT l.trusted_workers OR p_trusted) AND (NOT l.validated_backends OR p_validated) AND l.min_speed <= p_speed
          -- a bucket begins one above half its upper bound
          AND l.length_bucket / 2 < l.length AND l.context_bucket / 2 < l.context
          -- in order, so that it is the index of the lane that is looked into
          AND (SELECT true FROM dispatch.wp_models m WHERE m.lane_id = l.id AND m.waiting ORDER BY m.rank DESC, m.created, m.wp_id LIMIT 1));
END $$;
