-- promotable: the accounts that earned trust (base-domain 2.6): enough in escrow, a week old, few suspicions.
-- $1 threshold bigint, hundredths; escrow has to exceed it
SELECT a.id FROM admission.account_standing a JOIN admission.users u ON u.id = a.id
WHERE u.evaluating_kudos > $1 AND NOT a.trusted AND NOT a.anonymous AND a.suspicion_count < 5
  AND u.created <= now() - interval '7 days';
