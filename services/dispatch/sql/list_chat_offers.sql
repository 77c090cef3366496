-- list_chat_offers: what the online chat workers of each model offer together. Index: ix_workers_chat_model.
-- $1 online timestamptz the last check-in of a worker that still counts
SELECT w.chat_model_id AS model, count(*)::integer AS workers, coalesce(max(w.chat_max_context_length), 0) AS max_context_length,
       coalesce(max(w.chat_max_length), 0) AS max_length, min(w.created) AS created,
       array(SELECT DISTINCT feature FROM dispatch.workers f CROSS JOIN unnest(f.chat_features) AS feature
             WHERE f.accepts_chat_jobs AND f.chat_model_id = w.chat_model_id AND f.last_check_in > $1 AND NOT f.maintenance
             ORDER BY feature) AS features
FROM dispatch.workers w
WHERE w.accepts_chat_jobs AND w.last_check_in > $1 AND NOT w.maintenance
GROUP BY w.chat_model_id
