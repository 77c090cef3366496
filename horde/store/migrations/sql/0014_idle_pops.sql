-- Who may ask whether nothing fits a worker.
REVOKE EXECUTE ON FUNCTION dispatch.nothing_fits_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION dispatch.nothing_fits_v1 TO horde_dispatch;
