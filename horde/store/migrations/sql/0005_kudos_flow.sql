-- The ledger only grows, in the order of time: a block range index finds an hour of it for a few kilobytes.
CREATE INDEX ix_kudos_ledger_created ON admission.kudos_ledger USING brin (created) WITH (pages_per_range = 16);
