"""Every Redis use of progress: its keys, the leases and streams, and the watching of them."""
