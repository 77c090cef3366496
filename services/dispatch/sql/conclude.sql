-- conclude: what requests have come to; releases the holds of those of which nothing runs. See dispatch.conclude_v1.
-- $1 requests uuid[]
-- $2 now timestamptz
SELECT request AS id, c.finished, c.done FROM unnest($1::uuid[]) AS request, LATERAL dispatch.conclude_v1(request, $2) c
