-- make_floor: the place of the floor, beside the version. One row at most.
CREATE TABLE IF NOT EXISTS public.horde_schema_floor (
    version_num varchar(32) NOT NULL,
    is_only     boolean PRIMARY KEY DEFAULT true CHECK (is_only)
)
