-- promote: make an account trusted, escrow and paused workers included.
-- $1 account integer
SELECT admission.promote_v1($1);
