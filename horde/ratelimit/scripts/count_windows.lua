-- count_windows: count one call in each of several fixed windows, in one round trip.
--
-- KEYS[1..]  horde:ratelimit:{window}:{subject}  string, the calls of this window so far
-- ARGV[1..]  seconds                              how long a window lasts, one for each key
-- returns    for each key in turn: the calls with this one | the milliseconds until the window ends
local answer = {}
for index, key in ipairs(KEYS) do
  local count = redis.call("INCR", key)
  local left = redis.call("PTTL", key)
  -- A window begins with its first call; a key without an end (a restored dump) gets one.
  if left < 0 then
    redis.call("EXPIRE", key, ARGV[index])
    left = ARGV[index] * 1000
  end
  answer[#answer + 1] = count
  answer[#answer + 1] = left
end
return answer
