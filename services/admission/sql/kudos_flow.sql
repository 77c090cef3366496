-- kudos_flow: what was paid and earned in each of the last 24 hours, from the ledger. Amounts in hundredths.
-- reads only
SELECT hour,
       coalesce(-sum(l.amount) FILTER (WHERE l.entry_type = 'GENERATION' AND l.account = 'user' AND l.amount < 0), 0)::bigint
           AS paid,
       coalesce(sum(l.amount) FILTER (WHERE l.entry_type = 'GENERATION' AND l.user_id IS NOT NULL AND l.amount > 0), 0)::bigint
           AS earned,
       coalesce(sum(l.amount) FILTER (WHERE l.entry_type = 'UPTIME_REWARD' AND l.user_id IS NOT NULL), 0)::bigint AS uptime
FROM generate_series(date_trunc('hour', now()) - interval '23 hours', date_trunc('hour', now()), interval '1 hour') AS hour
LEFT JOIN admission.kudos_ledger l ON l.created >= hour AND l.created < hour + interval '1 hour'
GROUP BY hour ORDER BY hour;
