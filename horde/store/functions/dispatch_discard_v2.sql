-- dispatch.discard_v2: remove a request that was never activated; its images and offloaded messages are queued for deletion.
-- Called by admission when storing them or activating failed, also while a put may still be under way: p_late is how long it may be.
-- Returns the keys, so that they can be deleted at once as well. A repeat changes nothing.
CREATE FUNCTION dispatch.discard_v2(p_request uuid, p_late interval) RETURNS text[]
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
    WITH gone AS (
        DELETE FROM dispatch.waiting_prompts WHERE id = p_request AND NOT active
        RETURNING image_keys || CASE WHEN chat_messages_offloaded THEN ARRAY[id || '_chat_messages.json'] ELSE '{}' END AS keys
    ), queued AS (
        INSERT INTO dispatch.object_deletions (object_key, due) SELECT unnest(keys), now() + p_late FROM gone ON CONFLICT DO NOTHING
    )
    SELECT coalesce((SELECT keys FROM gone), '{}');
$$;
