-- write_chat_declaration: a changed chat declaration inside the window in which nothing else of a check-in is written.
-- $1 id uuid
-- $2 accepts_chat_jobs boolean
-- $3 accepts_prompt_jobs boolean
-- $4 chat_features text[]
-- $5 chat_max_context_length integer
-- $6 chat_max_length integer
-- $7 chat_model_id text
-- $8 chat_tools_max_temperature float8
-- $9 image_transports text[]
UPDATE dispatch.workers
SET accepts_chat_jobs = $2, accepts_prompt_jobs = $3, chat_features = $4, chat_max_context_length = $5,
    chat_max_length = $6, chat_model_id = $7, chat_tools_max_temperature = $8, image_transports = $9
WHERE id = $1
