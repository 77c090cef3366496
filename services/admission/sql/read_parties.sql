-- read_parties: both sides of a transfer, and a shared key that is addressed. One row for each account that there is.
-- $1 source integer
-- $2 target integer, null: none
SELECT a.id, a.anonymous, a.trusted, a.flagged, a.education, a.deleted, a.suspicion_count
FROM admission.account_standing a WHERE a.id IN ($1, $2) AND a.username <> '<wiped>';
