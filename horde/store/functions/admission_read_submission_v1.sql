-- admission.read_submission_v1: everything a submission is judged by, in one round trip; always one row.
-- Called by admission. Steps with a plan of their own, made once for each connection: as one statement it would be planned anew each time.
-- p_sharedkey: a UUID that is a shared key's id is that key; anything else is looked up as a personal key (base-domain 1.5).
-- p_operation_key: null without one. p_online: how long a worker counts as online. p_workers: those the request names.
-- Amounts in hundredths; `available` is what is left above the floor and the active holds. What workers offer is four parallel arrays.
CREATE FUNCTION admission.read_submission_v1(
    p_key_hash text, p_sharedkey uuid, p_operation_key uuid, p_models text[], p_online interval, p_workers uuid[],
    OUT maintenance boolean, OUT raid boolean,
    OUT account_id integer, OUT alias text, OUT anonymous boolean, OUT trusted boolean, OUT moderator boolean, OUT service boolean,
    OUT education boolean, OUT flagged boolean, OUT deleted boolean, OUT kudos bigint, OUT concurrency integer, OUT available bigint,
    OUT sharedkey_id uuid, OUT sharedkey_kudos bigint, OUT sharedkey_expiry timestamptz, OUT max_text_tokens integer,
    OUT claimed_request uuid, OUT claimed_fingerprint text, OUT claimed_kudos bigint,
    OUT waiting bigint, OUT offered_models text[], OUT offering_workers bigint[], OUT offered_contexts integer[], OUT offered_lengths integer[],
    OUT missing_workers uuid[]
) LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_user integer;
    v_floor bigint;
BEGIN
    SELECT m.maintenance, m.raid INTO STRICT maintenance, raid FROM moderation.modes_now m;
    IF p_sharedkey IS NOT NULL THEN
        SELECT s.id, s.user_id, s.kudos, s.expiry, s.max_text_tokens
        INTO sharedkey_id, v_user, sharedkey_kudos, sharedkey_expiry, max_text_tokens
        FROM admission.user_sharedkeys s WHERE s.id = p_sharedkey;
    END IF;
    IF v_user IS NULL THEN
        SELECT u.id INTO v_user FROM admission.users u WHERE u.api_key = p_key_hash AND u.oauth_id NOT LIKE '<wiped>%';
    END IF;
    waiting := 0;
    IF v_user IS NOT NULL THEN
        SELECT a.id, a.alias, a.anonymous, a.trusted, a.moderator, a.service, a.education, a.flagged, a.deleted, a.kudos, a.concurrency, a.floor
        INTO account_id, alias, anonymous, trusted, moderator, service, education, flagged, deleted, kudos, concurrency, v_floor
        FROM admission.account_standing a WHERE a.id = v_user;
        available := kudos - v_floor - (SELECT coalesce(sum(h.remaining_amount), 0) FROM admission.kudos_reservations h
                                        WHERE h.user_id = v_user AND h.released_at IS NULL);
        waiting := dispatch.count_waiting_v2(v_user, p_models);
        IF p_operation_key IS NOT NULL THEN
            SELECT c.request_id, c.fingerprint, c.kudos INTO claimed_request, claimed_fingerprint, claimed_kudos
            FROM admission.operation_claims c WHERE c.user_id = v_user AND c.operation_key = p_operation_key;
        END IF;
    END IF;
    SELECT array_agg(o.model), array_agg(o.workers), array_agg(o.max_context_length), array_agg(o.max_length)
    INTO offered_models, offering_workers, offered_contexts, offered_lengths
    FROM dispatch.chat_offers_v1(p_models, p_online) AS o;
    IF p_workers <> '{}' THEN
        missing_workers := dispatch.missing_workers_v1(p_workers);
    END IF;
END $$;
