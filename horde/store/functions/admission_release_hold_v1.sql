-- admission.release_hold_v1: give back what is left of a request's hold.
-- Called by dispatch when the request ended: done, cancelled, faulted, expired. A repeat changes nothing.
CREATE FUNCTION admission.release_hold_v1(p_request uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
    UPDATE admission.kudos_reservations SET released_at = now()
    WHERE business_id = 'upfront:' || p_request AND released_at IS NULL;
$$;
