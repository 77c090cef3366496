-- has_transferred_lately: whether one account sent kudos to another within the last minute.
-- $1 source integer
-- $2 target integer
SELECT EXISTS (SELECT FROM admission.kudos_transfers
               WHERE source_id = $1 AND dest_id = $2 AND created > now() - interval '60 seconds');
