-- measure_holds: how many holds there are, and the age of the oldest in seconds, 0 without any.
SELECT count(*) AS holds, coalesce(extract(epoch FROM now() - min(created)), 0)::double precision AS oldest
FROM admission.kudos_reservations WHERE released_at IS NULL
