-- read_queue_head: the ranks of every so manyth of the first waiting requests, best first; for positions far back in the queue.
-- Index: ix_waiting_prompts_queue, from its begin.
-- $1 bound int how far to look
-- $2 every int
SELECT coalesce(array_agg(head.rank ORDER BY head.place), '{}')::float8[] AS ranks
FROM (
    SELECT r.rank, row_number() OVER (ORDER BY r.rank DESC, r.created, r.id) AS place
    FROM dispatch.waiting_prompts r WHERE r.active AND NOT r.faulted AND r.n > 0
    ORDER BY r.rank DESC, r.created, r.id LIMIT $1
) head
WHERE head.place % $2::integer = 0
