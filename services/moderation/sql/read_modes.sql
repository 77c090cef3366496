-- read_modes: the one row of modes.
SELECT maintenance, invite_only, raid FROM moderation.settings
