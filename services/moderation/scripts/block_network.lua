-- block_network: keep a network out until a moment, and forget blocks that are over.
--
-- KEYS[1]  horde:moderation:address_blocks   hash of network to the epoch second of its end
-- ARGV[1]  network                           in canonical form
-- ARGV[2]  until                             epoch seconds, with their thousandths
-- ARGV[3]  now                               epoch seconds, with their thousandths
-- returns  1
local blocks = redis.call("HGETALL", KEYS[1])
for i = 1, #blocks, 2 do
  if tonumber(blocks[i + 1]) <= tonumber(ARGV[3]) then
    redis.call("HDEL", KEYS[1], blocks[i])
  end
end
redis.call("HSET", KEYS[1], ARGV[1], ARGV[2])
return 1
