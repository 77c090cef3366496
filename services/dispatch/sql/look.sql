-- look: who pops and what waits for it, in one read, for a worker as it was when it popped last. The first row is who pops, as
-- read_popper gives it; the others are the candidates, as dispatch.find_candidates_v3 gives them. No row: the key is unknown.
-- reads only
-- $1 worker uuid
-- $2 priority_users integer[] the owner first
-- $3 owner_only boolean
-- $4 chat_model text null: no chat jobs
-- $5 features text[]
-- $6 takes_images boolean
-- $7 chat_length integer
-- $8 chat_context integer
-- $9 tools_max_temperature float8
-- $10 text_models text[] with '' beside them; empty: no text jobs
-- $11 text_length integer
-- $12 text_context integer
-- $13 softprompts text[]
-- $14 trusted boolean
-- $15 validated boolean
-- $16 speed float8
-- $17 paused boolean
-- $18 now timestamptz
-- $19 depth integer entries to look at in each source
-- $20 key_hash text
-- $21 name text
WITH me AS MATERIALIZED (
    SELECT a.id AS account_id, a.api_key AS key_hash, a.trusted, a.flagged, a.deleted, a.worker_invited, modes.invite_only,
           w.id AS worker_id, w.worker_type, w.user_id, w.created, w.last_check_in, w.uptime, w.last_reward_uptime, w.paused,
           w.maintenance, w.maintenance_msg, w.speed, w.accepts_chat_jobs, w.accepts_prompt_jobs, w.chat_features,
           w.chat_max_context_length, w.chat_max_length, w.chat_model_id, w.chat_tools_max_temperature, w.image_transports
    FROM admission.account_standing a
    CROSS JOIN moderation.modes_now modes
    LEFT JOIN dispatch.workers w ON w.name = $21
    WHERE a.api_key = $20
)
SELECT me.*, NULL::boolean AS exhausted, NULL::uuid AS candidate_id, NULL::integer AS candidate_user, NULL::boolean AS candidate_is_chat,
       NULL::text[] AS candidate_models, NULL::boolean AS candidate_single, NULL::text AS candidate_skip
FROM me
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, NULL, NULL, NULL, c.exhausted, c.id, c.user_id, c.is_chat, c.models, c.single, c.skip
FROM (
    SELECT f.exhausted, f.id, f.user_id, f.is_chat, f.models, f.single, f.skip
    FROM dispatch.find_candidates_v3($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) f
) c
