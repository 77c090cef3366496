-- tell_waiting: wake the pops that wait for jobs like those of these requests.
-- $1 requests uuid[]
SELECT dispatch.tell_waiting_v3($1)
