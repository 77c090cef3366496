-- Review: pages of events by time, and plans that know which filters are used.

-- A page between two moments reads each week by itself, newest id first: ids grow with time only on the whole.
CREATE INDEX ix_moderation_events_week ON moderation.moderation_events
    (date_bin('7 days', created, timestamptz '2001-01-01 00:00:00+00'), reason, id DESC) INCLUDE (created);
CREATE INDEX ix_moderation_access_log_moderator ON moderation.moderation_access_log (moderator_id, id);
CREATE INDEX ix_moderation_access_log_events ON moderation.moderation_access_log USING gin (event_ids);

-- The listing's filters may be null: a plan made for all of them at once would use no filter's index.
ALTER ROLE horde_moderation SET plan_cache_mode = force_custom_plan;
