-- read_shared_key_load: the outstanding work of a key; always one row.
-- reads only
-- $1 id uuid
SELECT requests, queued, processing, finished, oldest_queued_seconds FROM dispatch.sharedkey_load_v1($1);
