-- update_account: what a person changes of an account; null leaves a column as it is. An empty text removes the comment.
-- $1 account integer
-- $2 usage_multiplier float8
-- $3 concurrency integer
-- $4 worker_invited integer
-- $5 admin_comment text
-- $6 public_workers boolean
-- $7 username varchar
-- $8 contact varchar
-- $9 proxy_passkey varchar
UPDATE admission.users SET
    usage_multiplier = coalesce($2, usage_multiplier),
    concurrency = coalesce($3, concurrency),
    worker_invited = coalesce($4, worker_invited),
    admin_comment = nullif(coalesce($5, admin_comment), ''),
    public_workers = coalesce($6, public_workers),
    username = coalesce($7, username),
    contact = coalesce($8, contact),
    proxy_passkey = coalesce($9, proxy_passkey)
WHERE id = $1;
