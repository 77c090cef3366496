-- write_check_in: a due check-in: the whole declaration, the uptime, and the uptime's reward, paid once.
-- Of several pops of one worker at once only the first finds the check-in it read; the others change nothing.
-- $1 id uuid
-- $2 seen timestamptz
-- $3 address text
-- $4 now timestamptz
-- $5 bridge_agent text
-- $6 validated boolean
-- $7 threads integer
-- $8 models text[]
-- $9 nsfw boolean
-- $10 max_length integer
-- $11 max_context_length integer
-- $12 softprompts text[]
-- $13 accepts_chat_jobs boolean
-- $14 accepts_prompt_jobs boolean
-- $15 chat_features text[]
-- $16 chat_max_context_length integer
-- $17 chat_max_length integer
-- $18 chat_model_id text
-- $19 chat_tools_max_temperature float8
-- $20 image_transports text[]
-- $21 uptime bigint
-- $22 last_reward_uptime bigint
-- $23 reward bigint in hundredths of a kudo
WITH checked AS (
    UPDATE dispatch.workers w
    SET ipaddr = $3, last_check_in = $4, bridge_agent = $5, validated_backend = $6, threads = $7, models = $8, nsfw = $9,
        max_length = $10, max_context_length = $11, softprompts = $12, accepts_chat_jobs = $13, accepts_prompt_jobs = $14,
        chat_features = $15, chat_max_context_length = $16, chat_max_length = $17, chat_model_id = $18,
        chat_tools_max_temperature = $19, image_transports = $20, uptime = $21, last_reward_uptime = $22, kudos = w.kudos + $23
    WHERE w.id = $1 AND w.last_check_in = $2
    RETURNING w.id, w.user_id
), counted AS (
    INSERT INTO dispatch.worker_stats AS s (worker_id, action, value)
    SELECT id, 'uptime', $23 FROM checked WHERE $23 > 0
    ON CONFLICT (worker_id, action) DO UPDATE SET value = s.value + excluded.value
)
SELECT CASE WHEN $23 > 0
            THEN admission.settle_v2(gen_random_uuid(), 'uptime', NULL, NULL, NULL, user_id, $23, 0, 0, 0) END
FROM checked
