-- dispatch.suspect_worker_v1: one more reason to suspect a worker, and its owner with it (base-domain 2.7).
-- Called by dispatch at a new worker's pop, after a reply that came too fast, and by count_fault_v2. Two reasons add up: too fast (5)
-- and too many dropped jobs (9); any other counts once for a worker, and once for its owner. The fifth pauses the worker, unless its
-- owner is trusted. Moderation's history gets a row for each that counts, through the outbox. Locks: worker, then its owner's account.
CREATE FUNCTION dispatch.suspect_worker_v1(p_worker uuid, p_suspicion integer, p_detail text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    w record;
    v_accumulates boolean := p_suspicion IN (5, 9);
    v_paused boolean := false;
BEGIN
    SELECT x.name, x.user_id, x.paused, a.trusted INTO w
    FROM dispatch.workers x JOIN admission.account_standing a ON a.id = x.user_id
    WHERE x.id = p_worker FOR NO KEY UPDATE OF x;
    IF NOT FOUND OR (NOT v_accumulates AND EXISTS (
        SELECT FROM dispatch.worker_suspicions s WHERE s.worker_id = p_worker AND s.suspicion_id = p_suspicion)) THEN
        RETURN;
    END IF;
    INSERT INTO dispatch.worker_suspicions (worker_id, suspicion_id, created) VALUES (p_worker, p_suspicion, p_now);
    IF NOT w.paused AND NOT w.trusted AND (SELECT count(*) FROM dispatch.worker_suspicions s WHERE s.worker_id = p_worker) >= 5 THEN
        UPDATE dispatch.workers x SET paused = true WHERE x.id = p_worker;
        v_paused := true;
    END IF;
    PERFORM admission.suspect_v1(w.user_id, p_suspicion, v_accumulates);
    INSERT INTO dispatch.worker_reports (kind, report, created)
    VALUES ('suspicion', jsonb_build_object(
        'worker_id', p_worker, 'worker_name', w.name, 'user_id', w.user_id, 'suspicion_id', p_suspicion, 'detail', p_detail,
        'paused', v_paused), p_now);
END $$;
