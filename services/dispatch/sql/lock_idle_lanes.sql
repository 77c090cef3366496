-- lock_idle_lanes: lanes that no entry stands in, locked: until the commit nobody can enter one (lane_v1 waits, then makes a new one).
-- $1 before timestamptz younger lanes are left alone
SELECT l.id FROM dispatch.lanes l
WHERE l.last_used < $1 AND NOT EXISTS (SELECT FROM dispatch.wp_models m WHERE m.lane_id = l.id)
FOR UPDATE SKIP LOCKED
