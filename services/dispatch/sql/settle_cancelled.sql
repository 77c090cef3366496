-- settle_cancelled: end and pay one streamed generation at its cancel; see dispatch.settle_cancelled_v2. Amounts in hundredths of a kudo.
-- $1 generation uuid
-- $2 characters int
-- $3 reward bigint
-- $4 charge bigint
-- $5 burn bigint
-- $6 now timestamptz
-- $7 request_ttl interval
SELECT dispatch.settle_cancelled_v2($1, $2, $3, $4, $5, $6, $7)
