"""Every metric and business log line of this service. Ids go to the log, never to a label."""
