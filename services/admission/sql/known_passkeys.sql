-- known_passkeys: the passkeys that let a service speak for other addresses, and whose they are; those of flagged accounts count for nothing.
SELECT u.proxy_passkey, a.alias FROM admission.users u JOIN admission.account_standing a ON a.id = u.id
WHERE u.proxy_passkey IS NOT NULL AND a.service AND NOT a.flagged;
