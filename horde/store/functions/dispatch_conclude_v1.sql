-- dispatch.conclude_v1: what a request has come to after one of its generations ended or its rest was cancelled.
-- Called by the functions below that end generations, and by the cancel, with the request's row already locked.
-- Done: faulted, or nothing waits and nothing runs, and every result is there or the rest was cancelled.
-- When nothing of it can be charged any more its hold is released. A repeat changes nothing.
CREATE FUNCTION dispatch.conclude_v1(p_request uuid, p_now timestamptz) RETURNS TABLE (finished integer, done boolean)
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    r record;
    v_running integer;
BEGIN
    SELECT w.n, w.jobs, w.faulted, w.cancelled INTO STRICT r FROM dispatch.waiting_prompts w WHERE w.id = p_request;
    SELECT count(*) FILTER (WHERE g.generation IS NOT NULL AND NOT g.faulted), count(*) FILTER (WHERE g.generation IS NULL AND NOT g.faulted)
    INTO finished, v_running FROM dispatch.processing_gens g WHERE g.wp_id = p_request AND NOT g.fake;
    done := r.faulted OR (r.n = 0 AND v_running = 0 AND (finished >= r.jobs OR r.cancelled));
    IF done AND v_running = 0 THEN
        PERFORM admission.release_hold_v1(p_request);
    END IF;
    IF done THEN
        -- the first terminal writer is kept
        UPDATE dispatch.waiting_prompts w
        SET terminal_outcome = CASE WHEN w.faulted THEN 'fault' WHEN w.cancelled THEN 'cancellation' ELSE 'completion' END,
            terminal_recorded_at = p_now
        WHERE w.id = p_request AND w.terminal_outcome IS NULL;
    END IF;
    RETURN NEXT;
END $$;
