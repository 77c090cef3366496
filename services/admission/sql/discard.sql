-- discard: remove a request that was never activated and queue its objects; a repeat changes nothing. Gives the objects' keys.
-- $1 request uuid
-- $2 late interval how long a put may still be under way
SELECT dispatch.discard_v2($1, $2);
