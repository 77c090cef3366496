-- read_transfer: the transfer that a retry key was used for; no row without one.
-- $1 source integer
-- $2 retry_key varchar
SELECT target, kudos FROM admission.kudos_transfers WHERE source_id = $1 AND retry_key = $2;
