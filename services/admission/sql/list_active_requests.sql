-- list_active_requests: the account's own requests that wait or run; not those sent with a key that it lends.
-- reads only
-- $1 account integer
SELECT request FROM dispatch.active_requests_v2($1) AS request;
