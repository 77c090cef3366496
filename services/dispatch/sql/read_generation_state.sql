-- read_generation_state: how a generation stands: pending, finished or faulted; no row when it is not stored.
-- $1 generation uuid
SELECT CASE WHEN faulted THEN 'faulted' WHEN generation IS NOT NULL THEN 'finished' ELSE 'pending' END AS state
FROM dispatch.processing_gens WHERE id = $1
