-- count_shared_keys: how many keys an account lends.
-- $1 owner integer
SELECT count(*) FROM admission.user_sharedkeys WHERE user_id = $1;
