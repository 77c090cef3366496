-- check_sets: the posting sets that do not sum to zero; none in a sound ledger.
SELECT 'unbalanced set' AS finding, set_id::text AS subject, sum(amount)::bigint AS expected, 0::bigint AS found
FROM admission.kudos_ledger GROUP BY set_id HAVING sum(amount) <> 0 ORDER BY set_id LIMIT 1000;
