"""`python -m horde`: the same as the `horde` command."""

import sys

from horde.cli import main

if __name__ == "__main__":
    sys.exit(main())
