-- count_adjustments: what floors forgave within a time, by the kind of account (base-domain 2.3). Amounts in hundredths.
-- $1 since timestamptz
-- $2 until timestamptz
SELECT CASE WHEN a.anonymous THEN 'anon' WHEN a.floor = 1400 THEN 'pseudonymous' ELSE 'registered' END AS account_class,
       count(*) AS adjustments, sum(k.amount)::bigint AS amount
FROM admission.kudos_ledger k JOIN admission.account_standing a ON a.id = k.user_id
WHERE k.entry_type = 'FLOOR_ADJUSTMENT' AND k.account = 'user' AND k.created > $1 AND k.created <= $2
GROUP BY 1
