-- lock_request: hold a request's row until the transaction ends, so that what is read next cannot change. No row when it is gone.
-- $1 request uuid
SELECT id FROM dispatch.waiting_prompts WHERE id = $1 FOR NO KEY UPDATE
