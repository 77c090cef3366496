-- alter_role: the statement that lets a role log in with a password, made by the server so that it quotes both.
-- $1 role text
-- $2 password text
SELECT format('ALTER ROLE %I LOGIN PASSWORD %L', $1::text, $2::text)
