-- The events that nobody has marked, so that the list of what is left to look at costs the same however much was looked at before: behind
-- a million marked events it would walk all of them. Every event without a mark stands here. One with a mark may stand here for a while,
-- when two moderators were at it in the same moment; who reads looks at the marks too.
CREATE TABLE moderation.unmarked_events (
    event_id bigint PRIMARY KEY,
    reason   varchar(32) NOT NULL
);
CREATE INDEX ix_unmarked_events_reason_event_id ON moderation.unmarked_events (reason, event_id);
GRANT SELECT, INSERT, DELETE ON moderation.unmarked_events TO horde_moderation;

CREATE FUNCTION moderation.list_unmarked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO moderation.unmarked_events (event_id, reason) SELECT a.id, a.reason FROM added a ON CONFLICT (event_id) DO NOTHING;
    RETURN NULL;
END $$;

CREATE FUNCTION moderation.unlist_marked() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM moderation.unmarked_events u USING added a WHERE u.event_id = a.event_id;
    RETURN NULL;
END $$;

CREATE FUNCTION moderation.list_again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Also when another mark is left: whether one is cannot be known while it is being taken back.
    INSERT INTO moderation.unmarked_events (event_id, reason)
    SELECT e.id, e.reason FROM moderation.moderation_events e WHERE e.id IN (SELECT r.event_id FROM removed r)
    ON CONFLICT (event_id) DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER list_unmarked AFTER INSERT ON moderation.moderation_events
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION moderation.list_unmarked();
CREATE TRIGGER unlist_marked AFTER INSERT ON moderation.moderation_event_marks
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION moderation.unlist_marked();
CREATE TRIGGER list_again AFTER DELETE ON moderation.moderation_event_marks
REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION moderation.list_again();
