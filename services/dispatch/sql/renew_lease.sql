-- renew_lease: a pending generation's lease ends later: never earlier than it did, never beyond its cap.
-- $1 generation uuid
-- $2 job_ttl int
UPDATE dispatch.processing_gens
SET job_ttl = greatest(job_ttl, least($2, lease_cap)), lease_until = start_time + greatest(job_ttl, least($2, lease_cap)) * interval '1 second'
WHERE id = $1 AND generation IS NULL AND NOT faulted
