-- Who may prove the ledger.

GRANT SELECT, INSERT, UPDATE, DELETE ON admission.ledger_proofs TO horde_admission;
GRANT SELECT, UPDATE ON admission.ledger_marks TO horde_admission;
REVOKE EXECUTE ON FUNCTION dispatch.ended_requests_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION dispatch.ended_requests_v1 TO horde_admission;
