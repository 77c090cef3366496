-- fault_generation: give one generation up; see dispatch.fault_generation_v2.
-- $1 generation uuid
-- $2 faulted_limit int
-- $3 only_lapsed boolean
-- $4 now timestamptz
SELECT outcome, request, request_faulted, finished, fault_reason, fault_rc FROM dispatch.fault_generation_v2($1, $2, $3, $4)
