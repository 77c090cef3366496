-- schema_version: the revision the database stands at. Every role may read it; no row or no table: never migrated.
SELECT version_num FROM public.horde_schema_version
