-- look_idle: who pops, as read_popper gives it, and whether nothing that waits can fit the worker as it was when it popped last. No row: the
-- key is unknown. For a worker whose last pop found nothing.
-- reads only
-- $1 worker uuid
-- $2 chat_model text null: no chat jobs
-- $3 features text[]
-- $4 takes_images boolean
-- $5 chat_length integer
-- $6 chat_context integer
-- $7 text_models text[] with '' beside them; empty: no text jobs
-- $8 text_length integer
-- $9 text_context integer
-- $10 trusted boolean
-- $11 validated boolean
-- $12 speed float8
-- $13 key_hash text
-- $14 name text
SELECT a.id AS account_id, a.api_key AS key_hash, a.trusted, a.flagged, a.deleted, a.worker_invited, modes.invite_only,
       w.id AS worker_id, w.worker_type, w.user_id, w.created, w.last_check_in, w.uptime, w.last_reward_uptime, w.paused,
       w.maintenance, w.maintenance_msg, w.speed, w.accepts_chat_jobs, w.accepts_prompt_jobs, w.chat_features,
       w.chat_max_context_length, w.chat_max_length, w.chat_model_id, w.chat_tools_max_temperature, w.image_transports,
       dispatch.nothing_fits_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS nothing_fits
FROM admission.account_standing a
CROSS JOIN moderation.modes_now modes
LEFT JOIN dispatch.workers w ON w.name = $14
WHERE a.api_key = $13;
