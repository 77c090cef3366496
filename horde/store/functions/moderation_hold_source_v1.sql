-- moderation_hold_source_v1: why retention passes over an event, NULL when it does not: what its steps ask of each row, told of one.
-- A note wins over the account's standing. Read by the review listing and by the preview.
-- COST: dearer than any other condition, so that it is asked last, and only of rows that all others leave.
CREATE FUNCTION moderation.hold_source_v1(p_event_id bigint, p_user_id integer) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE COST 10000 AS $$
    SELECT CASE
        WHEN EXISTS (SELECT FROM moderation.moderation_event_notes n WHERE n.event_id = p_event_id) THEN 'note'
        WHEN p_user_id IS NOT NULL AND moderation.account_restricted_v1(p_user_id) THEN 'account_status' END
$$;
REVOKE EXECUTE ON FUNCTION moderation.hold_source_v1(bigint, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION moderation.hold_source_v1(bigint, integer) TO horde_moderation;
