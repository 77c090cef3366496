-- grant_version: lets every service check at its start that the schema fits the code.
GRANT SELECT ON public.horde_schema_version, public.horde_schema_floor TO PUBLIC
