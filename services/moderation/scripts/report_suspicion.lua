-- report_suspicion: one more report against an address; it stays out longer each time.
--
-- KEYS[1]  horde:moderation:suspicion:{subject}   count of reports, kept for a while after the last one
-- KEYS[2]  horde:moderation:timeout:{subject}     exists while the subject is out
-- ARGV[1]  memory_seconds                         how long the count is kept
-- ARGV[2]  first_seconds                          the first timeout; the k-th is (2k - 1) times that
-- ARGV[3]  longest_seconds                        no timeout is longer
-- returns  the seconds of this timeout
-- Run twice, it counts twice: the error is a longer timeout, never a shorter one.
local count = redis.call("INCR", KEYS[1])
redis.call("EXPIRE", KEYS[1], ARGV[1])
local seconds = math.min((2 * count - 1) * tonumber(ARGV[2]), tonumber(ARGV[3]))
-- A moderator may have set a longer one.
if redis.call("TTL", KEYS[2]) < seconds then
  redis.call("SET", KEYS[2], "1", "EX", seconds)
end
return seconds
