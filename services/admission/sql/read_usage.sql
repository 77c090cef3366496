-- read_usage: what an account's requests cost, newest day first. Amounts in hundredths.
-- $1 account integer
-- $2 first date
-- $3 sharedkey uuid, only through this key; null: all
SELECT day, model, sharedkey_id, requests, generations, tokens, kudos FROM admission.usage_days
WHERE user_id = $1 AND day >= $2 AND ($3::uuid IS NULL OR sharedkey_id = $3)
ORDER BY day DESC, kudos DESC, model LIMIT 10000;
