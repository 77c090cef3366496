-- raise_floor: code that knows no revision as new as this does not work here any more. Never lowers it.
-- $1 revision text
INSERT INTO public.horde_schema_floor AS f (version_num) VALUES ($1::text)
ON CONFLICT (is_only) DO UPDATE SET version_num = greatest(f.version_num, excluded.version_num)
