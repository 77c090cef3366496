-- admission.forget_requests_v1: the rows of these requests are being deleted: their holds and operation claims go with them.
-- Called by dispatch in the transaction that deletes the rows. A repeat changes nothing.
CREATE FUNCTION admission.forget_requests_v1(p_requests uuid[]) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
    UPDATE admission.kudos_reservations SET released_at = now()
    WHERE business_id IN (SELECT 'upfront:' || request FROM unnest(p_requests) AS request) AND released_at IS NULL;
    DELETE FROM admission.operation_claims WHERE request_id = ANY (p_requests);
$$;
