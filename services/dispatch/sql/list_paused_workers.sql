-- list_paused_workers: paused workers with their owners and suspicions, in the order asked for; `total` counts beyond the limit.
-- Index: ix_workers_paused. Suspicions are read for the rows of the page alone, unless they are the order.
-- $1 types varchar[], null: any
-- $2 suspicion_ids smallint[], workers that carry any of them; null: any
-- $3 is_online boolean, null: any
-- $4 online timestamptz, the check-in that still counts
-- $5 sort text: last_check_in, suspicion, name, owner
-- $6 rows integer
WITH page AS (
    SELECT w.id, w.name, w.worker_type, w.user_id, w.last_check_in, w.created, w.info, w.bridge_agent, w.models, w.maintenance,
           w.maintenance_msg, w.uptime, w.uncompleted_jobs, w.aborted_jobs, w.nonconformant_replies, w.fulfilments,
           row_number() OVER (ORDER BY
               CASE $5 WHEN 'last_check_in' THEN w.last_check_in END DESC NULLS LAST,
               CASE $5 WHEN 'suspicion' THEN (SELECT count(*) FROM dispatch.worker_suspicions s WHERE s.worker_id = w.id) END DESC NULLS LAST,
               CASE $5 WHEN 'name' THEN lower(w.name) WHEN 'owner' THEN lower(a.alias) END, w.id) AS place,
           count(*) OVER () AS total
    FROM dispatch.workers w JOIN admission.account_standing a ON a.id = w.user_id
    WHERE w.paused AND ($1::varchar[] IS NULL OR w.worker_type = ANY ($1))
      AND ($2::smallint[] IS NULL OR EXISTS (
          SELECT FROM dispatch.worker_suspicions s WHERE s.worker_id = w.id AND s.suspicion_id = ANY ($2)))
      AND ($3::boolean IS NULL OR (w.last_check_in > $4) = $3)
    ORDER BY place LIMIT $6
)
SELECT page.*, page.last_check_in > $4 AS online, a.alias AS owner, a.trusted AS owner_trusted, a.flagged AS owner_flagged,
       a.suspicion_count AS owner_suspicion, a.contact, s.reasons, s.counts
FROM page JOIN admission.account_standing a ON a.id = page.user_id
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(r.suspicion_id ORDER BY r.suspicion_id), '{}') AS reasons, coalesce(array_agg(r.n ORDER BY r.suspicion_id), '{}') AS counts
    FROM (SELECT suspicion_id, count(*)::integer AS n FROM dispatch.worker_suspicions WHERE worker_id = page.id GROUP BY suspicion_id) r
) s
ORDER BY page.place;
