-- promote: make an account trusted; a repeat changes nothing.
-- $1 account integer
SELECT admission.promote_v1($1);
