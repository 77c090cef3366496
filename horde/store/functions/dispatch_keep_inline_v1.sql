-- dispatch.keep_inline_v1: an inactive request's messages turned out small enough to stay in its row; no object of them was stored.
-- Called by admission between storing the images, whose sizes decide, and activating.
CREATE FUNCTION dispatch.keep_inline_v1(p_request uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
    UPDATE dispatch.waiting_prompts SET chat_messages_offloaded = false WHERE id = p_request AND NOT active;
$$;
