-- is_maintenance: whether the horde takes no new work now.
SELECT maintenance FROM moderation.modes_now
