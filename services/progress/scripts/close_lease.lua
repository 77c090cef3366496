-- close_lease: a generation is over, so it takes no more posts; when it faulted, its watchers are told.
--
-- KEYS[1]  horde:chat:lease:{generation}  hash
-- KEYS[2]  horde:chat:stream:{request}    stream
-- ARGV[1]  ended          1: the generation faulted
-- ARGV[2]  generation id
-- ARGV[3]  stream life    seconds after the last entry
-- ARGV[4]  stream length  entries, trimmed roughly
-- ARGV[5]  wake channel
-- returns  1 the lease is gone now | 0 there was none, and nothing was written
local lease = redis.call("HMGET", KEYS[1], "fake", "cancelled")
if redis.call("DEL", KEYS[1]) == 0 then
  return 0
end
-- A fake was never on the stream, and a cancel has ended its generations already.
if ARGV[1] == "1" and lease[1] ~= "1" and lease[2] ~= "1" then
  redis.call("XADD", KEYS[2], "MAXLEN", "~", ARGV[4], "*", "gen", ARGV[2], "ended", "1")
  redis.call("EXPIRE", KEYS[2], ARGV[3])
  redis.call("PUBLISH", ARGV[5], "")
end
return 1
