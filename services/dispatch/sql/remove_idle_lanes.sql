-- remove_idle_lanes: remove the locked lanes that are still empty, now that nobody can enter one. Run it after lock_idle_lanes.
-- $1 lanes bigint[]
DELETE FROM dispatch.lanes l WHERE l.id = ANY ($1) AND NOT EXISTS (SELECT FROM dispatch.wp_models m WHERE m.lane_id = l.id)
