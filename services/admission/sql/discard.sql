-- discard: remove a request that was never activated; a repeat changes nothing.
-- $1 request uuid
SELECT dispatch.discard_v1($1);
