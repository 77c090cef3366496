-- ping: whether Postgres answers. For readiness.
SELECT 1
