-- read_popper: who pops: the account of this key, the worker of this name, the modes, in one read. Indexes: users' key, workers' name.
-- No row: the key is unknown. The worker's columns are null when the name is new.
-- $1 key_hash text
-- $2 name text
SELECT a.id AS account_id, a.api_key AS key_hash, a.trusted, a.flagged, a.deleted, a.worker_invited, modes.invite_only,
       w.id AS worker_id, w.worker_type, w.user_id, w.created, w.last_check_in, w.uptime, w.last_reward_uptime, w.paused,
       w.maintenance, w.maintenance_msg, w.speed, w.accepts_chat_jobs, w.accepts_prompt_jobs, w.chat_features,
       w.chat_max_context_length, w.chat_max_length, w.chat_model_id, w.chat_tools_max_temperature, w.image_transports
FROM admission.account_standing a
CROSS JOIN moderation.modes_now modes
LEFT JOIN dispatch.workers w ON w.name = $2
WHERE a.api_key = $1
