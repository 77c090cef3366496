"""How the system tells what it does: logs, metrics, traces. Holds no event of any service."""
