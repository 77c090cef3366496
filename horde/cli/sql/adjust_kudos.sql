-- adjust_kudos: give or take kudos by hand; the new balance, null without such an account.
-- $1 account integer
-- $2 amount bigint, hundredths
SELECT admission.adjust_v1($1, $2);
