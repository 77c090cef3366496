-- dispatch.charged_facts_v1: what a charge was for: the model that answered, or the first that was asked for; tokens; the shared key.
-- Called by the trigger that adds up usage. No row when the request is gone. In plpgsql, so that each connection plans it once.
CREATE FUNCTION dispatch.charged_facts_v1(p_request uuid, p_generation uuid)
RETURNS TABLE (model text, tokens integer, sharedkey_id uuid)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    RETURN QUERY
    SELECT coalesce((SELECT g.model::text FROM dispatch.processing_gens g WHERE g.id = p_generation), r.models[1], ''),
           r.max_length, r.sharedkey_id
    FROM dispatch.waiting_prompts r WHERE r.id = p_request;
END $$;
