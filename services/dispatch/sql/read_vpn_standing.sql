-- read_vpn_standing: whether an account may connect workers through a VPN, and whether the horde is in raid mode.
-- $1 account integer
SELECT a.vpn, modes.raid FROM admission.account_standing a CROSS JOIN moderation.modes_now modes WHERE a.id = $1
