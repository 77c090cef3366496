-- dispatch.widest_context_v1: the largest context among the online text workers of these models; null without one.
-- Called by admission for a text request that grows into its context (base-domain 3.6). No models: any worker's.
-- Workers in maintenance do not count (decision R16).
CREATE FUNCTION dispatch.widest_context_v1(p_models text[], p_online interval) RETURNS integer
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT max(w.max_context_length) FROM dispatch.workers w
    WHERE w.accepts_prompt_jobs AND (p_models = '{}' OR w.models && p_models)
      AND w.last_check_in > now() - p_online AND NOT w.maintenance;
$$;
