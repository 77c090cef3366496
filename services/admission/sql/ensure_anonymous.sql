-- ensure_anonymous: the account of the anonymous key exists, under the present salt.
-- $1 key_hash text
SELECT admission.ensure_anonymous_v1($1);
