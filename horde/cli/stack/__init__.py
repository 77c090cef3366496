"""The system on one machine: embedded Postgres, Valkey and S3, the services, and the supervisor over them.

For `horde up` and for the tests. Nothing here is imported by a service.
"""
