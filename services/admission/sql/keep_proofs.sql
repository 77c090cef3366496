-- keep_proofs: the next proof of these accounts goes on from here. A proof that reaches farther stays.
-- $1 accounts integer[]
-- $2 through timestamptz[]
-- $3 kudos bigint[]
-- $4 escrow bigint[]
INSERT INTO admission.ledger_proofs AS p (user_id, through, kudos, escrow)
SELECT * FROM unnest($1::integer[], $2::timestamptz[], $3::bigint[], $4::bigint[])
ON CONFLICT (user_id) DO UPDATE SET through = excluded.through, kudos = excluded.kudos, escrow = excluded.escrow
WHERE p.through < excluded.through
