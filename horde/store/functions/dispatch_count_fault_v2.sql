-- dispatch.count_fault_v2: what a fault does to its worker (base-domain 4.11; chat reference, Refusal record and worker counters).
-- Called by fault_generation_v2. A reply refused as nonconformant is no dropped job. More than 20 dropped jobs in an hour (10 in raid
-- mode) put the worker into maintenance, except in raid mode; either way the worker becomes suspicious (9) and the count starts again.
CREATE FUNCTION dispatch.count_fault_v2(p_worker uuid, p_refusal text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    v_aborted integer;
    v_raid boolean;
BEGIN
    IF p_refusal = 'ChatSubmitNonconformant' THEN
        UPDATE dispatch.workers w SET nonconformant_replies = w.nonconformant_replies + 1 WHERE w.id = p_worker;
        RETURN;
    END IF;
    UPDATE dispatch.workers w
    SET uncompleted_jobs = w.uncompleted_jobs + 1,
        aborted_jobs = CASE WHEN w.last_aborted_job >= p_now - interval '1 hour' THEN w.aborted_jobs + 1 ELSE 1 END,
        last_aborted_job = CASE WHEN w.last_aborted_job >= p_now - interval '1 hour' THEN w.last_aborted_job ELSE p_now END
    WHERE w.id = p_worker RETURNING w.aborted_jobs INTO v_aborted;
    IF v_aborted > 10 THEN
        SELECT m.raid INTO v_raid FROM moderation.modes_now m;
        IF v_raid OR v_aborted > 20 THEN
            UPDATE dispatch.workers w
            SET aborted_jobs = 0, maintenance = w.maintenance OR NOT v_raid,
                maintenance_msg = CASE WHEN w.maintenance OR v_raid THEN w.maintenance_msg
                    ELSE 'Maintenance mode activated because the worker dropped too many jobs; see whether it is overloaded, then turn it off.' END
            WHERE w.id = p_worker;
            PERFORM dispatch.suspect_worker_v1(p_worker, 9, format('The worker dropped %s jobs within an hour.', v_aborted), p_now);
        END IF;
    END IF;
END $$;
