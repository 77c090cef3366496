-- set_education_concurrency: an account for education waits with 200 generations at least, and with the usual 30 when it is none any more.
-- $1 account integer
-- $2 is_education boolean
UPDATE admission.users SET concurrency = CASE WHEN $2 THEN 200 ELSE 30 END
WHERE id = $1 AND CASE WHEN $2 THEN concurrency < 200 ELSE concurrency = 200 END;
