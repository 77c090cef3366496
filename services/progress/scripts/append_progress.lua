-- append_progress: judge one post of a worker; when it is accepted, append it, lengthen the lease and wake the watchers.
-- The stream and the wake channel are named by the request, which only the lease knows, so their names are made here.
--
-- KEYS[1]   horde:chat:lease:{generation}  hash
-- ARGV[1]   key                what the lease must hold as `key`
-- ARGV[2]   generation id
-- ARGV[3]   seq                any integer
-- ARGV[4]   content
-- ARGV[5]   reasoning content  "" when there is none
-- ARGV[6]   now                Unix seconds with fractions
-- ARGV[7]   base lease         seconds that an accepted post leaves to the job
-- ARGV[8]   grace              seconds the lease's hash stands after the job's lease
-- ARGV[9]   entry cap          posts of one generation
-- ARGV[10]  stream prefix      followed by the request id
-- ARGV[11]  stream life        seconds after the last entry
-- ARGV[12]  stream length      entries, trimmed roughly
-- ARGV[13]  wake prefix        followed by the request id
-- returns   {"absent"} | {"wrong_key"} | {"out_of_sequence", expected seq} | {"capped"}
--           | {"repeated", seq, cancelled} | {"appended", seq, cancelled, renewal, job ttl, trusted}
--           renewal: "granted" | "at_cap" | "none"
local lease = redis.call("HMGET", KEYS[1], "request", "key", "seq", "content", "reasoning_content", "bytes", "max_bytes",
  "fake", "cancelled", "started", "job_ttl", "lease_cap", "trusted", "worker", "model")
local request = lease[1]
if not request then
  return {"absent"}
end
if lease[2] ~= ARGV[1] then
  return {"wrong_key"}
end
local seq, last = tonumber(ARGV[3]), tonumber(lease[3] or "0")
local cancelled = lease[9] == "1" and 1 or 0
if last > 0 and seq == last and lease[4] == ARGV[4] and lease[5] == ARGV[5] then
  return {"repeated", seq, cancelled}
end
if seq ~= last + 1 then
  return {"out_of_sequence", last + 1}
end
local bytes = tonumber(lease[6] or "0") + #ARGV[4] + #ARGV[5]
if seq > tonumber(ARGV[9]) or bytes > tonumber(lease[7]) then
  return {"capped"}
end
redis.call("HSET", KEYS[1], "seq", seq, "bytes", string.format("%d", bytes), "content", ARGV[4], "reasoning_content", ARGV[5])
local renewal, job_ttl = "none", tonumber(lease[11])
if lease[8] == "1" then
  return {"appended", seq, cancelled, renewal, job_ttl, tonumber(lease[13])}
end

local entry = {"gen", ARGV[2], "seq", seq, "content", ARGV[4]}
if ARGV[5] ~= "" then
  entry[#entry + 1] = "reasoning_content"
  entry[#entry + 1] = ARGV[5]
end
entry[#entry + 1] = "worker"
entry[#entry + 1] = lease[14]
if lease[15] then
  entry[#entry + 1] = "model"
  entry[#entry + 1] = lease[15]
end
local stream = ARGV[10] .. request
redis.call("XADD", stream, "MAXLEN", "~", ARGV[12], "*", unpack(entry))
redis.call("EXPIRE", stream, ARGV[11])
redis.call("PUBLISH", ARGV[13] .. request, "")

-- Whole milliseconds: the difference of two Unix times is not exact, and rounding up would turn its dust into a second.
local elapsed = math.floor((tonumber(ARGV[6]) - tonumber(lease[10])) * 1000 + 0.5) / 1000
local cap = tonumber(lease[12])
if cancelled == 0 and elapsed <= job_ttl then
  local wanted = math.min(math.ceil(elapsed + tonumber(ARGV[7])), cap)
  if wanted > job_ttl then
    renewal, job_ttl = "granted", wanted
    redis.call("HSET", KEYS[1], "job_ttl", job_ttl)
    redis.call("PEXPIRE", KEYS[1], string.format("%d", (job_ttl + tonumber(ARGV[8]) - elapsed) * 1000))
  elseif job_ttl >= cap then
    renewal = "at_cap"
  end
end
return {"appended", seq, cancelled, renewal, job_ttl, tonumber(lease[13])}
