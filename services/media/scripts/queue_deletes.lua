-- queue_deletes: remember objects whose delete is owed, up to a bound.
--
-- KEYS[1]    horde:chat:image_delete_retry   set of object keys
-- ARGV[1]    limit                           most keys the set may hold
-- ARGV[2..]  object keys
-- returns    the object keys that found no room; empty: all are queued
local limit = tonumber(ARGV[1])
local left_out = {}
local size = redis.call("SCARD", KEYS[1])
for i = 2, #ARGV do
  if size < limit then
    size = size + redis.call("SADD", KEYS[1], ARGV[i])
  elseif redis.call("SISMEMBER", KEYS[1], ARGV[i]) == 0 then
    left_out[#left_out + 1] = ARGV[i]
  end
end
return left_out
