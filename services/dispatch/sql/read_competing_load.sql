-- read_competing_load: tokens and generations that wait and that at least one of these workers could take.
-- reads only
-- $1 workers uuid[]
SELECT tokens, jobs FROM dispatch.competing_load_v3($1)
