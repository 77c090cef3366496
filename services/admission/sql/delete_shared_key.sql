-- delete_shared_key: a key goes, and what waits through it.
-- $1 id uuid
WITH ended AS (SELECT dispatch.end_requests_v1(NULL, $1))
DELETE FROM admission.user_sharedkeys k USING ended WHERE k.id = $1;
