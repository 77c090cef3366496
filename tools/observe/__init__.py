"""What operators look at: dashboards for Grafana, and the rules that record how calls fare.

`python -m tools.observe` writes deploy/observe/dashboards/ and deploy/observe/calls.yaml; `--check` proves them fresh.
"""
