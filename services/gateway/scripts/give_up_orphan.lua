-- give_up_orphan: whether the gateway that lost a request's client may cancel it now; no other may after that.
--
-- KEYS[1]  horde:front:orphan:{request}   string: the gateway that lost its client last
-- KEYS[2]  horde:front:waiting:{request}  set: the gateways through which a client waits
-- ARGV[1]  gateway
-- returns  1 nobody waits for it | 0 another gateway lost it later or took it over, or a client waits there
if redis.call("GET", KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call("DEL", KEYS[1])
redis.call("SREM", KEYS[2], ARGV[1])
return redis.call("SCARD", KEYS[2]) == 0 and 1 or 0
