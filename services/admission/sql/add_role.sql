-- add_role: give an account a role; a repeat changes nothing.
-- $1 account integer
-- $2 role smallint
INSERT INTO admission.user_roles (user_id, user_role) VALUES ($1, $2) ON CONFLICT DO NOTHING;
