-- keep_inline: no messages object was made for this inactive request after all.
-- $1 request uuid
SELECT dispatch.keep_inline_v1($1);
