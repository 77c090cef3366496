-- check_balances: the accounts whose balance or escrow differs from the sum of their postings; none in a sound ledger.
WITH posted AS (
    SELECT user_id, coalesce(sum(amount) FILTER (WHERE account = 'user'), 0) AS kudos,
           coalesce(sum(amount) FILTER (WHERE account = 'escrow'), 0) AS escrow
    FROM admission.kudos_ledger WHERE user_id IS NOT NULL GROUP BY user_id
),
compared AS (
    SELECT u.id, v.finding, v.expected, v.found
    FROM admission.users u LEFT JOIN posted p ON p.user_id = u.id,
    LATERAL (VALUES ('balance differs', coalesce(p.kudos, 0)::bigint, u.kudos::bigint),
                    ('escrow differs', coalesce(p.escrow, 0)::bigint, u.evaluating_kudos::bigint)) AS v (finding, expected, found)
)
SELECT finding, id::text AS subject, expected, found FROM compared WHERE expected <> found ORDER BY id LIMIT 1000;
