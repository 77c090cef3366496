-- dispatch.fault_generation_v2: one running generation is given up, its job waits again, and its request may be faulted by it.
-- Called by dispatch's SubmitFault and by the loop over lapsed leases, alone in its transaction. A repeat changes nothing.
-- p_limit: a request with more faulted generations than this is faulted (FAULTED_GENERATIONS_LIMIT).
-- p_lapsed: true aborts only a generation whose lease ended before p_now; a lease renewed meanwhile stays.
-- outcome: faulted, ended (it had ended before) or gone. request_faulted: this very call faulted the request.
CREATE FUNCTION dispatch.fault_generation_v2(p_generation uuid, p_limit integer, p_lapsed boolean, p_now timestamptz)
RETURNS TABLE (outcome text, request uuid, request_faulted boolean, finished integer, fault_reason text, fault_rc text)
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    r dispatch.waiting_prompts;
    g dispatch.processing_gens;
    v_restarts boolean;
BEGIN
    SELECT p.wp_id INTO request FROM dispatch.processing_gens p WHERE p.id = p_generation;
    PERFORM 1 FROM dispatch.waiting_prompts w WHERE w.id = request FOR NO KEY UPDATE;
    UPDATE dispatch.processing_gens p SET faulted = true, ended_at = p_now
    WHERE p.id = p_generation AND p.generation IS NULL AND NOT p.faulted AND (NOT p_lapsed OR p.lease_until < p_now)
    RETURNING p.* INTO g;
    request_faulted := false;
    IF NOT FOUND THEN
        outcome := CASE WHEN EXISTS (SELECT FROM dispatch.processing_gens p WHERE p.id = p_generation) THEN 'ended' ELSE 'gone' END;
        RETURN NEXT;
        RETURN;
    END IF;
    outcome := 'faulted';
    IF NOT g.fake THEN
        SELECT w.* INTO STRICT r FROM dispatch.waiting_prompts w WHERE w.id = request;
        v_restarts := NOT r.cancelled AND NOT r.faulted;
        IF v_restarts THEN
            request_faulted := dispatch.count_faulted_v1(request) > p_limit;
            UPDATE dispatch.waiting_prompts w SET n = w.n + 1, faulted = request_faulted WHERE w.id = request;
            UPDATE dispatch.wp_models m SET waiting = NOT request_faulted WHERE m.wp_id = request AND m.waiting = request_faulted;
        END IF;
        PERFORM dispatch.count_fault_v2(g.worker_id, g.chat_refusal_rc, p_now);
        PERFORM dispatch.record_ending_v1(p_generation, 'FAULTED', p_now);
        SELECT c.finished INTO finished FROM dispatch.conclude_v1(request, p_now) c;
        fault_reason := r.chat_fault_reason;
        fault_rc := r.chat_fault_rc;
    END IF;
    RETURN NEXT;
END $$;
