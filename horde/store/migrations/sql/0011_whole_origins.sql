-- What a service forwards for its user in an address's place may be longer than any address: moderation keeps 255 characters of it. A wider
-- varchar is a change of the catalogue alone: no row is read.
-- squawk-ignore changing-column-type
ALTER TABLE dispatch.waiting_prompts ALTER COLUMN ipaddr TYPE varchar(255);
