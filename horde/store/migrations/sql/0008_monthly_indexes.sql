-- The hourly payment finds who is due without reading every account.
CREATE INDEX CONCURRENTLY IF NOT EXISTS ix_users_monthly_received ON admission.users (monthly_kudos_last_received)
    WHERE monthly_kudos_last_received IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS ix_users_monthly_unpaid ON admission.users (id)
    WHERE monthly_kudos > 0 AND monthly_kudos_last_received IS NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS ix_user_roles_moderators ON admission.user_roles (user_id) WHERE user_role = 0;
