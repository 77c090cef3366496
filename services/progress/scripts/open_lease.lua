-- open_lease: let a generation post. A repeat writes the same fields again and keeps what was accepted meanwhile.
--
-- KEYS[1]    horde:chat:lease:{generation}  hash
-- ARGV[1]    life        milliseconds
-- ARGV[2..]  field, value, field, value, …
-- returns    1
redis.call("HSET", KEYS[1], unpack(ARGV, 2))
redis.call("PEXPIRE", KEYS[1], ARGV[1])
return 1
