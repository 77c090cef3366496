-- Who may pay the kudos of a month. Its indexes: 0008_monthly_indexes.sql.

REVOKE EXECUTE ON FUNCTION admission.monthly_amount_v1, admission.pay_monthly_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION admission.monthly_amount_v1, admission.pay_monthly_v1 TO horde_admission;
