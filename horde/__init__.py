"""What two or more services must agree on; decides nothing itself and imports no service."""

import os

# A package that horde-sdk brings hooks itself into pydantic, and so adds more than a second to every start.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
