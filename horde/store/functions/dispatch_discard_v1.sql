-- dispatch.discard_v1: remove a request that was never activated; its objects are queued for deletion.
-- Called by admission when storing the images or activating failed. A repeat changes nothing.
CREATE FUNCTION dispatch.discard_v1(p_request uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
    WITH gone AS (DELETE FROM dispatch.waiting_prompts WHERE id = p_request AND NOT active RETURNING image_keys)
    INSERT INTO dispatch.object_deletions (object_key) SELECT unnest(image_keys) FROM gone ON CONFLICT DO NOTHING;
$$;
