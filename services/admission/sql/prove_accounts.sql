-- prove_accounts: the next accounts beside what their postings add up to, each from where its last proof ended; one moment's view.
-- reads only
-- $1 after integer: the account looked at last
-- $2 accounts integer
-- $3 postings integer: so many at most of one account; where there are more, `cut` says how far the sums reach
-- $4 margin interval: postings that are older are all there, since no transaction lasts that long
WITH looked AS (
    SELECT u.id, u.kudos, u.evaluating_kudos AS escrow, coalesce(p.through, '-infinity') AS since,
           coalesce(p.kudos, 0) AS proved_kudos, coalesce(p.escrow, 0) AS proved_escrow
    FROM admission.users u LEFT JOIN admission.ledger_proofs p ON p.user_id = u.id
    WHERE u.id > $1 ORDER BY u.id LIMIT $2
),
reached AS (
    SELECT l.*, (SELECT k.created FROM admission.kudos_ledger k
                 WHERE k.user_id = l.id AND k.created > l.since AND k.created <= now() - $4::interval
                 ORDER BY k.created OFFSET $3 LIMIT 1) AS cut
    FROM looked l
)
SELECT r.id, r.kudos, r.escrow, isfinite(r.since) AS goes_on, r.cut IS NULL AS is_whole, coalesce(r.cut, now() - $4::interval) AS through,
       r.proved_kudos + s.kudos AS posted_kudos, r.proved_escrow + s.escrow AS posted_escrow,
       r.proved_kudos + s.settled_kudos AS settled_kudos, r.proved_escrow + s.settled_escrow AS settled_escrow, s.settled,
       (SELECT count(*) FROM (SELECT DISTINCT k.set_id FROM admission.kudos_ledger k
                              WHERE k.user_id = r.id AND k.created > r.since AND k.created <= coalesce(r.cut, 'infinity')) AS t
        WHERE (SELECT sum(x.amount) FROM admission.kudos_ledger x WHERE x.set_id = t.set_id) <> 0) AS unbalanced_sets,
       coalesce((SELECT cardinality(dispatch.ended_requests_v1(array_agg(h.request_id))) FROM admission.kudos_reservations h
                 WHERE h.user_id = r.id AND h.released_at IS NULL HAVING count(*) > 0), 0) AS stale_holds
FROM reached r CROSS JOIN LATERAL (
    SELECT coalesce(sum(k.amount) FILTER (WHERE k.account = 'user'), 0)::bigint AS kudos,
           coalesce(sum(k.amount) FILTER (WHERE k.account = 'escrow'), 0)::bigint AS escrow,
           coalesce(sum(k.amount) FILTER (WHERE k.account = 'user' AND k.created <= coalesce(r.cut, now() - $4::interval)), 0)::bigint AS settled_kudos,
           coalesce(sum(k.amount) FILTER (WHERE k.account = 'escrow' AND k.created <= coalesce(r.cut, now() - $4::interval)), 0)::bigint AS settled_escrow,
           count(*) FILTER (WHERE k.created <= coalesce(r.cut, now() - $4::interval)) AS settled
    FROM admission.kudos_ledger k
    WHERE k.user_id = r.id AND k.created > r.since AND k.created <= coalesce(r.cut, 'infinity')
) s
ORDER BY r.id
