-- read_submission: everything a chat submission is judged by, in one round trip; always one row.
-- reads only
-- A UUID that is a shared key's id is that key; anything else is looked up as a personal key (base-domain 1.5).
-- Amounts in hundredths. `available` is what is left above the floor and the active holds.
-- $1 key_hash text
-- $2 sharedkey uuid, null when the key is no UUID
-- $3 operation_key uuid, null without one
-- $4 models text[]
-- $5 online interval, how long a worker counts as online
-- $6 workers uuid[], the workers the request names
WITH lent AS (
    SELECT id, user_id, kudos, expiry, max_text_tokens FROM admission.user_sharedkeys WHERE id = $2
),
payer AS (
    SELECT user_id FROM lent
    UNION ALL
    SELECT u.id FROM admission.users u
    WHERE u.api_key = $1 AND u.oauth_id NOT LIKE '<wiped>%' AND NOT EXISTS (SELECT FROM lent)
)
SELECT m.maintenance, m.raid,
       a.id AS account_id, a.alias, a.anonymous, a.trusted, a.moderator, a.service, a.education, a.flagged, a.deleted, a.kudos, a.concurrency,
       a.kudos - a.floor - (
           SELECT coalesce(sum(h.remaining_amount), 0)::bigint FROM admission.kudos_reservations h
           WHERE h.user_id = a.id AND h.released_at IS NULL
       ) AS available,
       lent.id AS sharedkey_id, lent.kudos AS sharedkey_kudos, lent.expiry AS sharedkey_expiry, lent.max_text_tokens,
       c.request_id AS claimed_request, c.fingerprint AS claimed_fingerprint, c.kudos AS claimed_kudos,
       CASE WHEN a.id IS NULL THEN 0 ELSE dispatch.count_waiting_v1(a.id, $4) END AS waiting,
       (SELECT coalesce(array_agg(o), '{}') FROM dispatch.chat_offers_v1($4, $5) AS o) AS offers,
       dispatch.missing_workers_v1($6) AS missing_workers
FROM moderation.modes_now m
LEFT JOIN payer ON true
LEFT JOIN lent ON true
LEFT JOIN admission.account_standing a ON a.id = payer.user_id
LEFT JOIN admission.operation_claims c ON c.user_id = payer.user_id AND c.operation_key = $3;
