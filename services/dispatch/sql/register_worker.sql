-- register_worker: a new worker, with its first declaration.
-- $1 id uuid
-- $2 owner integer
-- $3 name text
-- $4 address text
-- $5 now timestamptz
-- $6 bridge_agent text
-- $7 validated boolean
-- $8 threads integer
-- $9 models text[]
-- $10 nsfw boolean
-- $11 max_length integer
-- $12 max_context_length integer
-- $13 softprompts text[]
-- $14 accepts_chat_jobs boolean
-- $15 accepts_prompt_jobs boolean
-- $16 chat_features text[]
-- $17 chat_max_context_length integer
-- $18 chat_max_length integer
-- $19 chat_model_id text
-- $20 chat_tools_max_temperature float8
-- $21 image_transports text[]
INSERT INTO dispatch.workers (
    id, user_id, name, ipaddr, created, last_check_in, bridge_agent, validated_backend, threads, models, nsfw, max_length,
    max_context_length, softprompts, accepts_chat_jobs, accepts_prompt_jobs, chat_features, chat_max_context_length,
    chat_max_length, chat_model_id, chat_tools_max_temperature, image_transports
) VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
