-- conclude: what requests have come to; releases the holds of those of which nothing runs. See dispatch.conclude_v2.
-- $1 requests uuid[]
-- $2 now timestamptz
SELECT request AS id, c.finished, c.done FROM unnest($1::uuid[]) AS request, LATERAL dispatch.conclude_v2(request, $2, 0, NULL) c
