-- claim_adjustments: the time that nobody has counted floor adjustments of yet; whoever claims it counts it.
-- $1 margin interval: what is younger waits, since its transaction may still be under way
UPDATE admission.ledger_marks m SET through = greatest(m.through, now() - $1::interval)
FROM (SELECT through FROM admission.ledger_marks WHERE entry_type = 'FLOOR_ADJUSTMENT' FOR UPDATE) AS before
WHERE m.entry_type = 'FLOOR_ADJUSTMENT' RETURNING before.through AS since, m.through AS until
