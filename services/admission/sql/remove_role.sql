-- remove_role: take a role from an account; a repeat changes nothing.
-- $1 account integer
-- $2 role smallint
DELETE FROM admission.user_roles WHERE user_id = $1 AND user_role = $2;
