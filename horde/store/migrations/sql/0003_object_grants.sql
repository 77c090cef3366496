-- Who may use the functions around objects.
REVOKE EXECUTE ON FUNCTION dispatch.discard_v2, dispatch.keep_inline_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION dispatch.discard_v2, dispatch.keep_inline_v1 TO horde_admission, horde_dispatch;
