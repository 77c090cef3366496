-- list_active_requests: the account's requests that wait or run.
-- reads only
-- $1 account integer
SELECT request FROM dispatch.active_requests_v1($1) AS request;
