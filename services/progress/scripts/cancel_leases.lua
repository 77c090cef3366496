-- cancel_leases: tell the workers of a cancelled request to stop, with their next post, and end its generations' streams.
-- Writes only leases that still exist and were not flagged before, so a repeat changes nothing.
--
-- KEYS[1]    horde:chat:stream:{request}    stream
-- KEYS[2..]  horde:chat:lease:{generation}  hash, one for each generation id below
-- ARGV[1]    stream life    seconds after the last entry
-- ARGV[2]    stream length  entries, trimmed roughly
-- ARGV[3]    wake channel
-- ARGV[4..]  generation ids
-- returns    how many leases were flagged now
local flagged, ended = 0, 0
for i = 2, #KEYS do
  local lease = redis.call("HMGET", KEYS[i], "request", "fake", "cancelled")
  if lease[1] and lease[3] ~= "1" then
    redis.call("HSET", KEYS[i], "cancelled", 1)
    flagged = flagged + 1
    if lease[2] ~= "1" then
      redis.call("XADD", KEYS[1], "MAXLEN", "~", ARGV[2], "*", "gen", ARGV[i + 2], "ended", "1")
      ended = ended + 1
    end
  end
end
if ended > 0 then
  redis.call("EXPIRE", KEYS[1], ARGV[1])
  redis.call("PUBLISH", ARGV[3], "")
end
return flagged
