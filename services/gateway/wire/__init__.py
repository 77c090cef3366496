"""The public JSON against the services' messages: the only rooms here that import both."""
