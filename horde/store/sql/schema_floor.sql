-- schema_floor: the oldest code that still works on the database: the newest revision such code knows. Every role may read it.
SELECT version_num FROM public.horde_schema_floor
