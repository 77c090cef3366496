-- What moderation may know of a worker when its address is to be kept out.
CREATE VIEW dispatch.worker_origins AS
SELECT id, ipaddr FROM dispatch.workers;

GRANT USAGE ON SCHEMA dispatch TO horde_moderation;
GRANT SELECT ON dispatch.worker_origins TO horde_moderation;
