-- suspect: one more reason to suspect an account, unless it has this one already.
-- $1 account integer
-- $2 suspicion integer, its number in base-domain 2.7
SELECT admission.suspect_v1($1, $2, false);
