-- fill_review_events: the events number $1 to $2 of $3, spread over a year, as retention leaves them: for `horde bench moderation`.
-- Three in ten are the anonymous account's, the others fall thickly on few accounts, addresses and workers. One in two hundred is a
-- worker's report, one in twenty has no pseudonym, one in two hundred a note. Of the last months nearly all are marked, before them half.
-- $1 first integer
-- $2 last integer
-- $3 total integer
-- $4 text_days integer
-- $5 ipaddr_days integer
-- $6 subjects text[]
-- $7 keys text[], their pseudonyms
-- $8 moderator integer
WITH drawn AS MATERIALIZED (
    SELECT n, now() - interval '362 days' * ($3::integer - n) / $3 - interval '1 hour' * random() AS created, n % 200 = 0 AS is_report,
           CASE WHEN random() < 0.3 THEN 0 ELSE 1000000 + floor(50000 * power(random(), 3))::integer END AS user_id,
           1 + floor(cardinality($6::text[]) * power(random(), 2))::integer AS subject, n % 20 <> 0 AS has_key,
           n % 33 = 0 AS is_proxied, 'person ' || floor(2000 * power(random(), 3)) AS person,
           lpad(to_hex(floor(200 * power(random(), 2))::integer), 32, '0')::uuid AS worker_id, n % 200 = 17 AS is_noted
    FROM generate_series($1::integer, $2::integer) AS n
), judged AS (
    SELECT d.*, now() - d.created AS age, d.is_noted OR d.user_id % 100 IN (1, 7) AS is_held FROM drawn d
), shaped AS (
    SELECT j.*, j.age > make_interval(days => $4::integer) AND NOT j.is_held AS text_gone,
           j.age > make_interval(days => $5::integer) AND NOT j.is_held AS address_gone, j.n > $3 - 200 AND j.age <= make_interval(days => $4) AS is_pending FROM judged j
), made AS (
    INSERT INTO moderation.moderation_events (created, user_id, proxied_account, request_id, job_id, worker_id, ipaddr, ip_subject_key,
        models, reason, outcome, submitted_prompt, text_state, text_sha256, text_chars, text_redacted, ipaddr_redacted)
    SELECT created, CASE WHEN is_proxied THEN 1000000 ELSE user_id END, CASE WHEN is_proxied THEN person END,
           CASE WHEN is_report THEN gen_random_uuid() END, CASE WHEN is_report THEN gen_random_uuid() END,
           CASE WHEN is_report THEN worker_id END, CASE WHEN NOT address_gone THEN ($6::text[])[subject] END,
           CASE WHEN has_key THEN ($7::text[])[subject] END, '["bench/Bench-7B"]',
           CASE WHEN is_report THEN 'worker_csam' WHEN n % 12 = 5 THEN 'filter_rejection' ELSE 'model_rejection' END,
           CASE WHEN is_report THEN 'censored' ELSE 'rejected' END,
           CASE WHEN is_pending THEN repeat('Tell me about the sea. ', 20) END,
           CASE WHEN text_gone THEN 'none' WHEN is_pending THEN 'pending' ELSE 'stored' END,
           CASE WHEN NOT text_gone THEN repeat('0', 64) END, CASE WHEN NOT text_gone THEN 460 END, text_gone, address_gone
    FROM shaped ORDER BY n
    RETURNING id, created
), notes AS (
    INSERT INTO moderation.moderation_event_notes (event_id, author_id, note)
    SELECT m.id, $8::integer, 'Seen before.' FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM made) m
    JOIN (SELECT is_noted, row_number() OVER (ORDER BY n) AS place FROM shaped) s USING (place) WHERE s.is_noted
)
INSERT INTO moderation.moderation_event_marks (event_id, moderator_id, mark, created)
SELECT id, $8, CASE WHEN id % 3 = 0 THEN 'dismissed' ELSE 'seen' END, least(created + interval '1 day', now()) FROM made
WHERE created < now() - interval '1 day'
  AND random() < CASE WHEN created > now() - interval '150 days' THEN 0.998 ELSE 0.5 END
