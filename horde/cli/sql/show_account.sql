-- show_account: what an operator asks of one account. Amounts in hundredths.
-- $1 account integer
SELECT a.id, a.alias, a.kudos, u.evaluating_kudos, a.concurrency, a.suspicion_count, u.created, u.last_active,
       a.trusted, a.moderator, a.flagged, a.service, a.education, a.vpn, a.deleted,
       (SELECT coalesce(sum(h.remaining_amount), 0)::bigint FROM admission.kudos_reservations h
        WHERE h.user_id = a.id AND h.released_at IS NULL) AS held
FROM admission.account_standing a JOIN admission.users u ON u.id = a.id WHERE a.id = $1;
