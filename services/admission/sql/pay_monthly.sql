-- pay_monthly: pay an account the month that is due; hundredths, null when nothing is.
-- $1 account integer
-- $2 now timestamptz
SELECT admission.pay_monthly_v1($1, $2);
