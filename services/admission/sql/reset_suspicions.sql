-- reset_suspicions: forget the present suspicions of an account and of its workers.
-- $1 account integer
WITH own AS (DELETE FROM admission.user_suspicions WHERE user_id = $1)
SELECT dispatch.reset_suspicions_v1($1);
