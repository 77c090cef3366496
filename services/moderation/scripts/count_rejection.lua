-- count_rejection: one more rejection of one kind in its hour.
--
-- KEYS[1]  model_rejections:{subject}   count, for a fixed time from the first; proxy_suspicion is alike
-- ARGV[1]  window_seconds
-- returns  the count, this one included
local count = redis.call("INCR", KEYS[1])
if count == 1 then
  redis.call("EXPIRE", KEYS[1], ARGV[1])
end
return count
