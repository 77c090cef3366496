-- dispatch.count_faulted_v1: how many jobs of a request were given up; generations settled by its cancel and fake ones are none.
-- Called by fault_generation_v1 and by the loop that faults requests which failed too often.
CREATE FUNCTION dispatch.count_faulted_v1(p_request uuid) RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog AS $$
    SELECT count(*) FROM dispatch.processing_gens g WHERE g.wp_id = p_request AND g.faulted AND NOT g.cancelled AND NOT g.fake;
$$;
