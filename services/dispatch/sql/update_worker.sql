-- update_worker: write what was chosen of a worker; null leaves a column as it is. Ending maintenance forgets its message.
-- $1 worker uuid
-- $2 maintenance boolean
-- $3 maintenance_msg text
-- $4 paused boolean
-- $5 info text '' removes it
-- $6 name text
UPDATE dispatch.workers
SET maintenance = coalesce($2, maintenance),
    maintenance_msg = CASE WHEN $2::boolean IS NULL THEN maintenance_msg ELSE $3::text END,
    paused = coalesce($4, paused),
    info = CASE WHEN $5::text IS NULL THEN info ELSE nullif($5, '') END,
    name = coalesce($6, name)
WHERE id = $1
