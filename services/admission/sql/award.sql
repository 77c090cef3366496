-- award: kudos from the mint, or back to it; the new balance.
-- $1 account integer
-- $2 amount bigint, hundredths
-- $3 entry text
-- $4 action text
SELECT admission.award_v1($1, $2, $3, $4);
