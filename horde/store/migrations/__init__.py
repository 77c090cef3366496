"""The schema as a chain of revisions. One revision is `versions/<name>.py` and its SQL, `sql/<name>_….sql`.

Names sort by time and revisions only expand: the code before a revision keeps working after it.
"""
