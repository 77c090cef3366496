"""The gRPC runtime: serve, call, refuse, drain. Knows no service by name."""
