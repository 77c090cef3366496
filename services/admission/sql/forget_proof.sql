-- forget_proof: the next proof of this account begins with its first posting.
-- $1 account integer
DELETE FROM admission.ledger_proofs WHERE user_id = $1
