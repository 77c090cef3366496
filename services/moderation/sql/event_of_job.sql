-- event_of_job: the event that a job has already.
-- $1 job_id uuid
SELECT id FROM moderation.moderation_events WHERE job_id = $1
