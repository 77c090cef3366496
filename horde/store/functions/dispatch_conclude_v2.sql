-- dispatch.conclude_v2: what a request has come to after one of its generations ended or its rest was cancelled.
-- Called by the functions that end generations, and by the cancel, with the request's row already locked.
-- Done: faulted, or nothing waits and nothing runs, and every result is there or the rest was cancelled.
-- When nothing of it can be charged any more its hold is released. As v1, and books in the same write what a generation was charged
-- (p_charged, hundredths of a kudo) and that the request was used and lives until p_expiry at least (base-domain 3.7).
CREATE FUNCTION dispatch.conclude_v2(p_request uuid, p_now timestamptz, p_charged bigint, p_expiry timestamptz)
RETURNS TABLE (finished integer, done boolean)
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    r record;
    v_running integer;
BEGIN
    SELECT w.n, w.jobs, w.faulted, w.cancelled, w.terminal_outcome INTO STRICT r FROM dispatch.waiting_prompts w WHERE w.id = p_request;
    SELECT count(*) FILTER (WHERE g.generation IS NOT NULL AND NOT g.faulted), count(*) FILTER (WHERE g.generation IS NULL AND NOT g.faulted)
    INTO finished, v_running FROM dispatch.processing_gens g WHERE g.wp_id = p_request AND NOT g.fake;
    done := r.faulted OR (r.n = 0 AND v_running = 0 AND (finished >= r.jobs OR r.cancelled));
    IF done AND v_running = 0 THEN
        PERFORM admission.release_hold_v1(p_request);
    END IF;
    -- the first terminal writer is kept
    IF p_charged <> 0 OR p_expiry IS NOT NULL OR (done AND r.terminal_outcome IS NULL) THEN
        UPDATE dispatch.waiting_prompts w
        SET consumed_kudos = w.consumed_kudos + p_charged, expiry = greatest(w.expiry, p_expiry),
            terminal_outcome = CASE WHEN NOT done OR w.terminal_outcome IS NOT NULL THEN w.terminal_outcome
                                    WHEN w.faulted THEN 'fault' WHEN w.cancelled THEN 'cancellation' ELSE 'completion' END,
            terminal_recorded_at = CASE WHEN NOT done OR w.terminal_outcome IS NOT NULL THEN w.terminal_recorded_at ELSE p_now END
        WHERE w.id = p_request;
    END IF;
    RETURN NEXT;
END $$;
