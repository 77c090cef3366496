-- competing_load: the tokens and generations waiting that one of these workers could take.
-- reads only
-- $1 workers uuid[]
SELECT tokens, jobs FROM dispatch.competing_load_v3($1);
