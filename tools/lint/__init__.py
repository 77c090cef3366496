"""Our own rules: what no linter knows because it is about this tree. Each names the bug it prevents.

`python -m tools.lint` prints every finding. A rule is a generator over one `Source`; a new one is added to `RULES` in
`__main__.py` and gets a test in tests/unit/tools.
"""
