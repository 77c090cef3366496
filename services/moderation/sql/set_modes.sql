-- set_modes: switch modes; a null leaves its mode as it is.
-- $1 maintenance boolean
-- $2 invite_only boolean
-- $3 raid boolean
INSERT INTO moderation.settings (id, maintenance, invite_only, raid)
VALUES (1, coalesce($1::boolean, false), coalesce($2::boolean, false), coalesce($3::boolean, false))
ON CONFLICT (id) DO UPDATE
SET maintenance = coalesce($1::boolean, settings.maintenance),
    invite_only = coalesce($2::boolean, settings.invite_only),
    raid = coalesce($3::boolean, settings.raid)
