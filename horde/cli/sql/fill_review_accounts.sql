-- fill_review_accounts: accounts as promotion and holds see them, numbered from 1000000: for `horde bench moderation`. A repeat adds nothing.
-- One in a hundred is flagged, another trusted, another suspicious; one in fifty has evaluating kudos, up to 1,000 of them.
-- $1 amount integer
WITH made AS (
    INSERT INTO admission.users (id, username, oauth_id, api_key, client_id, created, evaluating_kudos)
    OVERRIDING SYSTEM VALUE
    SELECT 1000000 + n, 'bench account ' || n, 'bench-moderation-' || n, 'bench-moderation-' || n, 'bench-moderation-' || n,
           now() - make_interval(days => n % 400), CASE WHEN n % 50 = 7 THEN (100000 * random())::bigint ELSE 0 END
    FROM generate_series(0, $1::integer - 1) AS n
    ON CONFLICT DO NOTHING
    RETURNING id
), roles AS (
    INSERT INTO admission.user_roles (user_id, user_role)
    SELECT id, CASE WHEN id % 100 = 1 THEN 3 ELSE 1 END FROM made WHERE id % 100 IN (1, 57)
)
INSERT INTO admission.user_suspicions (user_id, suspicion_id)
SELECT id, 5 FROM made, generate_series(1, CASE WHEN id % 100 = 7 THEN 6 ELSE 2 END) WHERE id % 100 IN (2, 7)
