-- widest_context: the largest context among the online text workers of these models; null without one.
-- reads only
-- $1 models text[], empty: any model
-- $2 online interval
SELECT dispatch.widest_context_v1($1, $2);
