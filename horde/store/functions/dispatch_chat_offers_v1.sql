-- dispatch.chat_offers_v1: what the online chat workers offer for these models, one row per served model.
-- Called by admission before it sizes a chat request. Workers in maintenance do not count (decision R16).
CREATE FUNCTION dispatch.chat_offers_v1(p_models text[], p_online interval)
RETURNS TABLE (model text, workers bigint, max_context_length integer, max_length integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT w.chat_model_id, count(*), max(w.chat_max_context_length), max(w.chat_max_length)
    FROM dispatch.workers w
    WHERE w.accepts_chat_jobs AND w.chat_model_id = ANY (p_models) AND w.last_check_in > now() - p_online AND NOT w.maintenance
    GROUP BY w.chat_model_id;
$$;
