-- measure_backlogs: since when the oldest work of each loop has been due, in seconds; null: nothing is due.
-- Indexes: ix_processing_gens_lease, ix_waiting_prompts_expiry, ix_worker_reports_created. Objects to delete are few.
-- $1 now timestamptz
SELECT
    extract(epoch FROM $1 - (SELECT g.lease_until FROM dispatch.processing_gens g WHERE g.generation IS NULL AND NOT g.faulted
        AND g.lease_until < $1 ORDER BY g.lease_until LIMIT 1))::float8 AS abort_stale_leases,
    extract(epoch FROM $1 - (SELECT r.expiry FROM dispatch.waiting_prompts r WHERE r.expiry < $1 ORDER BY r.expiry LIMIT 1))::float8
        AS remove_expired_requests,
    extract(epoch FROM $1 - (SELECT min(o.created) FROM dispatch.object_deletions o))::float8 AS delete_objects,
    extract(epoch FROM $1 - (SELECT w.created FROM dispatch.worker_reports w ORDER BY w.created LIMIT 1))::float8 AS deliver_reports
