-- admission: how far the ledger has been proved and its adjustments counted. Only adds.

-- What an account's postings up to `through` add up to, in hundredths: its next proof goes on from there. A row that is
-- lost costs one longer look. Accounts are never removed, so nothing has to be referenced.
CREATE TABLE admission.ledger_proofs (
    user_id     integer PRIMARY KEY,
    through     timestamptz NOT NULL,
    kudos       bigint NOT NULL,
    escrow      bigint NOT NULL
);

-- Up to when the postings of one kind have been counted for the metrics; replicas take turns.
CREATE TABLE admission.ledger_marks (
    entry_type  varchar(24) PRIMARY KEY,
    through     timestamptz NOT NULL DEFAULT now()
);
INSERT INTO admission.ledger_marks (entry_type) VALUES ('FLOOR_ADJUSTMENT');
